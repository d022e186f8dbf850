import { readFromDeno } from "../../scripts/run.ts";

/** What an entry loads beyond the files of this package. */
export interface Closure {
  /** Names of the npm packages, types included, sorted. */
  readonly packages: readonly string[];
  /** Built-in modules of a platform, sorted. */
  readonly modules: readonly string[];
}

/** Asks Deno for everything that importing the file would load. */
export async function closureOf(file: string): Promise<Closure> {
  const graph: ModuleGraph = JSON.parse(
    await readFromDeno("info", "--json", file),
  );
  const names = (kind: string, nameOf: (module: GraphModule) => string) =>
    [
      ...new Set(
        graph.modules.filter((module) => module.kind === kind).map(nameOf),
      ),
    ].sort();
  return {
    packages: names(
      "npm",
      (module) => module.npmPackage!.replace(/(?<=.)@.*$/, ""),
    ),
    modules: names("node", (module) => module.specifier),
  };
}

interface ModuleGraph {
  readonly modules: readonly GraphModule[];
}

interface GraphModule {
  readonly kind: string;
  readonly specifier: string;
  readonly npmPackage?: string;
}
