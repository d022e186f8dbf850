import {
  type Edge,
  edges,
  floors,
  type Platform,
  platforms,
} from "./architecture.ts";
import type { Import } from "./sources.ts";

/** Why an import breaks the layers, with the folder where the code probably belongs; null if it does not. */
export function judgeImport(one: Import): string | null {
  const complaint = complaintAbout(one);
  return complaint && `${one.place} imports ${one.specifier}: ${complaint}`;
}

/** The shortest import cycles found, each as `a -> b -> a`. */
export function findCycles(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, target } of imports) {
    if (target !== null) {
      targets.set(from, [...targets.get(from) ?? [], target]);
    }
  }
  const cycles = new Map<string, string>();
  for (const start of targets.keys()) {
    const path = shortestPath(targets, start);
    if (path === null) continue;
    // A cycle is found from each of its members; sorted members make it one.
    const members = [...path].sort().join();
    if (!cycles.has(members)) {
      cycles.set(members, [...path, start].join(" -> "));
    }
  }
  return [...cycles.values()];
}

function complaintAbout({ from, specifier, target }: Import): string | null {
  if (target === null) return judgePackage(from, specifier);
  if (!specifier.endsWith(".ts")) {
    return "a relative import names the file with its extension";
  }
  if (target === "mod.ts") {
    return "nothing imports the root entry; name the file";
  }
  if (target.endsWith("/mod.ts") && folderOf(target) !== folderOf(from)) {
    return `${
      folderOf(target)
    } is another folder; name the file instead of its mod.ts`;
  }
  const [area, room] = placeOf(from);
  const [targetArea, targetRoom] = placeOf(target);
  if (area === targetArea && room === targetRoom) return null;
  if (targetArea === "root" || targetArea === "elsewhere") {
    return "it is not part of the package";
  }
  if (area === "adapters") return judgeAdapter(room, targetArea, targetRoom);
  if (targetArea === "adapters") {
    return "src knows no adapter; take what it gives as an option";
  }
  if (area === "root") {
    return isFloor(targetRoom) ? null : `${targetRoom} is an entry of its own`;
  }
  return isFloor(room)
    ? judgeFloor(room, targetRoom)
    : judgeEdge(room, targetRoom);
}

function judgeFloor(room: string, target: string): string | null {
  if (!isFloor(target)) {
    return `${room} is a floor and ${target} an edge; it belongs in src/${target}`;
  }
  if (rank(target) < rank(room)) return null;
  return `${room} lies below ${target}; the code belongs in src/${target}, or what it needs in src/${room}`;
}

function judgeEdge(room: string, target: string): string | null {
  const edge: Edge | undefined = edges[room];
  if (edge === undefined) {
    return `src/${room} is neither a floor nor an edge in tests/gates/architecture.ts`;
  }
  if (isFloor(target) || edge.edges.includes(target)) return null;
  return `${room} does not build on ${target}; what both need belongs in a floor of src`;
}

function judgeAdapter(
  room: string,
  targetArea: string,
  target: string,
): string | null {
  const platform: Platform | undefined = platforms[room];
  if (platform === undefined) {
    return `adapters/${room} is not a platform in tests/gates/architecture.ts`;
  }
  if (targetArea === "src" || platform.adapters.includes(target)) return null;
  return `an adapter knows one platform; what ${room} and ${target} share belongs in src`;
}

function judgePackage(from: string, specifier: string): string | null {
  const [area, room] = placeOf(from);
  const home = area === "src"
    ? edges[room]
    : area === "adapters"
    ? platforms[room]
    : undefined;
  const modules = area === "adapters" ? platforms[room]?.modules ?? [] : [];
  if (modules.some((prefix) => specifier.startsWith(prefix))) return null;
  if (/^[a-z]+:/.test(specifier)) {
    return "platform modules and URLs belong in the folder of their platform under adapters";
  }
  if (
    home?.packages.some((name) =>
      specifier === name || specifier.startsWith(`${name}/`)
    )
  ) return null;
  const owner = Object.keys(edges).find((name) =>
    edges[name]!.packages.some((owned) => specifier.startsWith(owned))
  );
  return `npm packages belong at their edge${
    owner === undefined ? "" : `, src/${owner}`
  }`;
}

function placeOf(path: string): readonly [area: string, room: string] {
  const [first, second, third] = path.split("/");
  if (path === "mod.ts") return ["root", ""];
  if ((first === "src" || first === "adapters") && third !== undefined) {
    return [first, second!];
  }
  return ["elsewhere", ""];
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function isFloor(room: string): boolean {
  return floors.some((floor) => floor === room);
}

function rank(floor: string): number {
  return floors.findIndex((name) => name === floor);
}

/** The files on the shortest way from a file back to itself; null if there is none. */
function shortestPath(
  targets: ReadonlyMap<string, readonly string[]>,
  start: string,
): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const next of targets.get(file) ?? []) {
      if (next === start) {
        const path = [file];
        while (path[0] !== start) path.unshift(cameFrom.get(path[0]!)!);
        return path;
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
}
