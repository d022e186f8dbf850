import { existsSync, readdirSync, readFileSync } from "node:fs";
import ts from "typescript";

/** A source file of the project, parsed. */
export interface Source {
  /** From the project's root. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** An import or a re-export, static or dynamic, of values or of types. */
export interface Import {
  /** `path:line` of the importing statement. */
  readonly place: string;
  readonly from: string;
  /** As written. */
  readonly specifier: string;
  /** The file it names, from the project's root; null for packages and platform modules. */
  readonly target: string | null;
}

let published: readonly Source[] | undefined;

/** Everything that is published: the root entry, `src` and `adapters`. Parsed once. */
export function publishedSources(): readonly Source[] {
  const roots = existsSync("mod.ts") ? ["mod.ts"] : [];
  published ??= [...roots, ...sourcePaths("src"), ...sourcePaths("adapters")]
    .map(readSource);
  return published;
}

/** Paths of the TypeScript files below a folder, sorted; none if the folder does not exist. */
export function sourcePaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory()
        ? sourcePaths(path)
        : path.endsWith(".ts")
        ? [path]
        : [];
    })
    .sort();
}

/** Parses one file. */
export function readSource(path: string): Source {
  return parseSource(path, readFileSync(path, "utf8"));
}

/** Parses a text as if it stood in the file. */
export function parseSource(path: string, text: string): Source {
  return {
    path,
    text,
    tree: ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true),
  };
}

/** The imports of a file in the order of its text. */
export function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  visit(source.tree, (node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return;
    found.push({
      place: placeOf(source, node),
      from: source.path,
      specifier,
      target: specifier.startsWith(".")
        ? resolvePath(source.path, specifier)
        : null,
    });
  });
  return found;
}

/**
 * Names that the file takes from its surroundings, or reads from `globalThis`, with their places.
 * Names that it declares or imports itself, names of members, comments and strings do not count.
 */
export function namesUsed(
  source: Source,
): { readonly name: string; readonly place: string }[] {
  const found: {
    readonly name: ts.Identifier | ts.MemberName;
    readonly free: boolean;
  }[] = [];
  const own = new Set<string>();
  visit(source.tree, (node) => {
    if (
      ts.isPropertyAccessExpression(node) && readsGlobalThis(node.expression)
    ) {
      found.push({ name: node.name, free: false });
    }
    if (!ts.isIdentifier(node)) return;
    if (declares(node)) own.add(node.text);
    else if (isReference(node)) found.push({ name: node, free: true });
  });
  return found
    .filter(({ name, free }) => !(free && own.has(name.text)))
    .map(({ name }) => ({ name: name.text, place: placeOf(source, name) }));
}

/** The comments of a file with their places. */
export function commentsOf(
  source: Source,
): { readonly text: string; readonly place: string }[] {
  const found = new Map<number, { text: string; place: string }>();
  // Only the parser knows a comment from a template or a regular expression, so they are taken around its nodes.
  visit(source.tree, (node) => {
    const ranges = [
      ...ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [],
      ...ts.getTrailingCommentRanges(source.text, node.getEnd()) ?? [],
    ];
    for (const { pos, end } of ranges) {
      const { line } = source.tree.getLineAndCharacterOfPosition(pos);
      found.set(pos, {
        text: source.text.slice(pos, end),
        place: `${source.path}:${line + 1}`,
      });
    }
  });
  return [...found.values()];
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function placeOf(source: Source, node: ts.Node): string {
  const { line } = source.tree.getLineAndCharacterOfPosition(node.getStart());
  return `${source.path}:${line + 1}`;
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return node.moduleSpecifier && literalText(node.moduleSpecifier);
  }
  if (
    ts.isCallExpression(node) &&
    node.expression.kind === ts.SyntaxKind.ImportKeyword
  ) {
    return node.arguments[0] && literalText(node.arguments[0]);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return literalText(node.argument.literal);
  }
  return undefined;
}

function literalText(node: ts.Node): string | undefined {
  return ts.isStringLiteralLike(node) ? node.text : undefined;
}

function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** Whether the name is the one that its parent makes known: of a variable, function, class, type or import. */
function declares(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || isMember(parent)) return false;
  if (ts.isShorthandPropertyAssignment(parent)) return false;
  return (parent as { readonly name?: ts.Node }).name === node;
}

function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isQualifiedName(parent)) return parent.left === node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) {
    return false;
  }
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) {
    return false;
  }
  if (ts.isBindingElement(parent)) return parent.propertyName !== node;
  return !(isMember(parent) && parent.name === node);
}

function isMember(
  node: ts.Node,
): node is ts.ClassElement | ts.TypeElement | ts.PropertyAssignment {
  return ts.isClassElement(node) || ts.isTypeElement(node) ||
    ts.isPropertyAssignment(node);
}

function readsGlobalThis(node: ts.Expression): boolean {
  let inner = node;
  while (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner)) {
    inner = inner.expression;
  }
  return ts.isIdentifier(inner) && inner.text === "globalThis";
}
