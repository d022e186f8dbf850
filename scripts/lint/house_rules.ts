/**
 * The style rules of this project that a linter can see, as a plugin of `deno lint`.
 *
 * They hold for what is published (`mod.ts`, `src`, `adapters`) unless a rule says otherwise.
 *
 * @module
 */

/** Members that Node 20, the oldest runtime, does not have. */
const beyondTheFloor: ReadonlySet<string> = new Set([
  "Promise.withResolvers",
  "Promise.try",
  "Array.fromAsync",
  "Object.groupBy",
  "Map.groupBy",
  "RegExp.escape",
  "Error.isError",
  "Iterator.from",
  "Uint8Array.fromBase64",
  "Uint8Array.fromHex",
]);

/** Sources of time, randomness and text output, with the port that stands for each. */
const portFor: ReadonlyMap<string, string> = new Map([
  ["Date.now", "Clock.now"],
  ["performance.now", "Clock.now"],
  ["Math.random", "IdSource"],
  ["crypto.randomUUID", "IdSource"],
  ["crypto.getRandomValues", "IdSource"],
]);

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "no-default-export": {
      create: (context) =>
        onlyIf(isPublished(context), {
          ExportDefaultDeclaration(node) {
            context.report({
              node,
              message: "Default exports have no stable name",
              hint: "Name the export",
            });
          },
        }),
    },
    "no-enum": {
      create: (context) => ({
        TSEnumDeclaration(node) {
          context.report({
            node,
            message: "Enums are not erasable",
            hint: "Use a union of string literals",
          });
        },
      }),
    },
    "no-private-keyword": {
      create: (context) =>
        onlyIf(isPublished(context), {
          "[accessibility='private']"(node) {
            context.report({
              node,
              message: "The private keyword hides from the compiler only",
              hint: "Use a #private member",
            });
          },
        }),
    },
    "no-parameter-property": {
      create: (context) => ({
        TSParameterProperty(node) {
          context.report({
            node,
            message: "Parameter properties are not erasable",
            hint: "Declare the member and assign it",
          });
        },
      }),
    },
    "few-parameters": {
      create: (context) =>
        onlyIf(isPublished(context), {
          "ExportNamedDeclaration > FunctionDeclaration"(
            node: Deno.lint.FunctionDeclaration,
          ) {
            if (node.params.length <= 3) return;
            context.report({
              node: node.id ?? node,
              message:
                `An exported function takes ${node.params.length} positional parameters`,
              hint: "Two positional parameters at most, then an options object",
            });
          },
        }),
    },
    "language-floor": {
      create: (context) =>
        onlyIf(isPublished(context), {
          MemberExpression(node) {
            const name = dottedName(node);
            if (!beyondTheFloor.has(name)) return;
            context.report({
              node,
              message: `${name} does not exist on Node 20`,
              hint: "Write out what it does; the language floor is ES2023",
            });
          },
          VariableDeclaration(node) {
            const kind: string = node.kind;
            if (!kind.endsWith("using")) return;
            context.report({
              node,
              message:
                `A declaration with ${kind} is a syntax error on Node 20`,
              hint: "Use try and finally",
            });
          },
        }),
    },
    "ports-only": {
      create: (context) =>
        onlyIf(isCore(context), {
          MemberExpression(node) {
            const name = dottedName(node);
            const port = name.startsWith("console.")
              ? "Logger"
              : portFor.get(name);
            if (port === undefined) return;
            context.report({
              node,
              message: `${name} is called outside src/base/ports.ts`,
              hint: `Take ${port} from the options`,
            });
          },
          "NewExpression[callee.name='Date'][arguments.length=0]"(
            node: Deno.lint.NewExpression,
          ) {
            context.report({
              node,
              message: "The current date is read outside src/base/ports.ts",
              hint: "Take Clock.now from the options",
            });
          },
        }),
    },
  },
};

export default plugin;

function isPublished({ filename }: Deno.lint.RuleContext): boolean {
  const path = projectPath(filename);
  return path === "mod.ts" || path.startsWith("src/") ||
    path.startsWith("adapters/");
}

function isCore({ filename }: Deno.lint.RuleContext): boolean {
  const path = projectPath(filename);
  return path.startsWith("src/") && path !== "src/base/ports.ts";
}

function projectPath(filename: string): string {
  const root = `${Deno.cwd()}/`.replaceAll("\\", "/");
  const path = filename.replaceAll("\\", "/").replace(/^file:\/\//, "");
  return path.startsWith(root) ? path.slice(root.length) : path;
}

function onlyIf(
  applies: boolean,
  visitor: Deno.lint.LintVisitor,
): Deno.lint.LintVisitor {
  return applies ? visitor : {};
}

/** `a.b` for a plain member of a plain name, with or without `globalThis` before it; else empty. */
function dottedName(node: Deno.lint.MemberExpression): string {
  if (node.property.type !== "Identifier" || node.computed) return "";
  const { object } = node;
  if (object.type === "Identifier") {
    return `${object.name}.${node.property.name}`;
  }
  if (
    object.type !== "MemberExpression" || object.property.type !== "Identifier"
  ) return "";
  if (
    object.object.type !== "Identifier" || object.object.name !== "globalThis"
  ) return "";
  return `${object.property.name}.${node.property.name}`;
}
