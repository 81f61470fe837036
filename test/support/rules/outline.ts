import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/**
 * What the rules of the tree ask of a source: each file is read, parsed and walked once for all of
 * them. Paths are relative to the repository.
 */
type Outline = {
  /** What it imports and exports again, types included, as written. */
  imports: string[];
  /** The names that it uses of each of them; `*` is all. */
  uses: [from: string, name: string][];
  exports: Named[];
  /** The names that it declares, each at its first place. */
  names: Named[];
  /** Functions of more than 50 lines. */
  functions: [name: string, lines: number][];
  /** Lines with a literal that is spread into another of its kind. */
  spreads: number[];
  /** Lines that wait for a time outside a loop. */
  sleeps: number[];
};
type Named = [name: string, line: number];

/** Shorter functions are left out, because no rule asks for them. */
const LONG = 50;

const root = process.cwd();
const texts = new Map<string, string>();
/** The content of a file of the tree. */
export const readText = (file: string): string => {
  const text = texts.get(file) ?? readFileSync(path.join(root, file), 'utf8');
  texts.set(file, text);
  return text;
};

const outlines = new Map<string, Outline>();
/** The outline of a file of TypeScript or JavaScript. */
export const outlineOf = (file: string): Outline => {
  const found = outlines.get(file) ?? keptOutline(file) ?? readOutline(file, readText(file));
  outlines.set(file, found);
  return found;
};

// ---------- outlines of an earlier run ----------

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

type Kept = { version: string; files: Record<string, { hash: string; outline: Outline }> };
/** Other code may find other outlines. */
const version = (): string => hashOf(`${ts.version} ${readFileSync(import.meta.filename, 'utf8')}`);
let kept: Kept['files'] = {};

const keptOutline = (file: string): Outline | undefined => {
  const last = kept[file];
  return last?.hash === hashOf(readText(file)) ? last.outline : undefined;
};

/** Uses what `saveOutlines` wrote into a file, for files whose content is the same. */
export const loadOutlines = (from: string): void => {
  try {
    const last: Kept = JSON.parse(readFileSync(from, 'utf8'));
    if (last.version === version()) kept = last.files;
  } catch {
    // The first run, or one that was interrupted.
  }
};

export const saveOutlines = (to: string): void => {
  const files = Object.fromEntries(
    [...outlines].map(([file, found]) => [file, { hash: hashOf(readText(file)), outline: found }]),
  );
  mkdirSync(path.dirname(to), { recursive: true });
  writeFileSync(`${to}.new`, JSON.stringify({ version: version(), files } satisfies Kept));
  renameSync(`${to}.new`, to);
};

// ---------- reading a file ----------

/** Parses a file and walks it once. */
const readOutline = (file: string, text: string): Outline => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const lineOf = (node: ts.Node) => lineAt(node.getStart(source));
  const found: Outline = {
    imports: [],
    uses: [],
    exports: source.statements.flatMap(exportedNames).map((name) => [name.text, lineOf(name)]),
    names: [],
    functions: [],
    spreads: [],
    sleeps: [],
  };
  const sleepNames = new Set(source.statements.flatMap(namesOfSleep));
  const names = new Set<string>();
  const visit = (node: ts.Node, inLoop: boolean): void => {
    for (const [from, name] of usesOf(node)) {
      if (!found.imports.includes(from)) found.imports.push(from);
      if (name !== null) found.uses.push([from, name]);
    }
    const name = declaredName(node);
    if (name !== undefined && !names.has(name.text)) {
      names.add(name.text);
      found.names.push([name.text, lineOf(name)]);
    }
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineAt(node.end) - lineOf(node) + 1;
      const owner = node.name ?? (node.parent as { name?: ts.Node }).name;
      if (lines > LONG) found.functions.push([owner?.getText(source) ?? 'anonymous', lines]);
    }
    if (isSpreadLiteral(node)) found.spreads.push(lineOf(node));
    if (!inLoop && isSleep(node, sleepNames)) found.sleeps.push(lineOf(node));
    const loops = ts.isIterationStatement(node, false) || (inLoop && !ts.isFunctionLike(node));
    ts.forEachChild(node, (child) => visit(child, loops));
  };
  visit(source, false);
  return found;
};

/** What a node uses of other files: their name in it, and the used name, or null for none. */
const usesOf = (node: ts.Node): (readonly [from: string, name: string | null])[] => {
  // import('./<file>.ts') as a type or as a call names everything of the file.
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return [[(node.argument.literal as ts.StringLiteral).text, '*']];
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    return argument && ts.isStringLiteralLike(argument) ? [[argument.text, '*']] : [];
  }
  const isImport = ts.isImportDeclaration(node);
  if (!(isImport || ts.isExportDeclaration(node)) || node.moduleSpecifier === undefined) return [];
  const from = (node.moduleSpecifier as ts.StringLiteral).text;
  const bindings = isImport ? node.importClause?.namedBindings : node.exportClause;
  const all = isImport && node.importClause?.name ? ['default'] : [];
  if (bindings === undefined) all.push(...(isImport ? [] : ['*']));
  else if (ts.isNamespaceImport(bindings) || ts.isNamespaceExport(bindings)) all.push('*');
  else all.push(...bindings.elements.map(({ propertyName, name }) => (propertyName ?? name).text));
  return [[from, null], ...all.map((name) => [from, name] as const)];
};

/** The names that a statement exports. */
const exportedNames = (statement: ts.Statement): ts.Identifier[] => {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (!isExported) return [];
  if (!ts.isVariableStatement(statement))
    return 'name' in statement && statement.name ? [statement.name as ts.Identifier] : [];
  return statement.declarationList.declarations.flatMap(({ name }) =>
    ts.isIdentifier(name)
      ? name
      : name.elements.flatMap((element) =>
          'name' in element && ts.isIdentifier(element.name) ? element.name : [],
        ),
  );
};

const declaredName = (node: ts.Node): ts.Identifier | ts.StringLiteral | undefined => {
  const { name } = node as { name?: ts.Node };
  if (name === undefined || !(ts.isIdentifier(name) || ts.isStringLiteral(name))) return undefined;
  const isOther =
    ts.isImportSpecifier(node) || ts.isImportClause(node) || ts.isPropertyAccessExpression(node);
  return isOther ? undefined : name;
};

const isSpreadLiteral = (node: ts.Node): boolean =>
  (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
  (ts.isSpreadElement(node) &&
    ts.isArrayLiteralExpression(node.parent) &&
    ts.isArrayLiteralExpression(node.expression));

/** The names of `setTimeout` of `node:timers/promises` in a file. */
const namesOfSleep = (statement: ts.Statement): string[] => {
  if (!ts.isImportDeclaration(statement)) return [];
  if (!/timers\/promises$/.test((statement.moduleSpecifier as ts.StringLiteral).text)) return [];
  const bindings = statement.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.flatMap(({ name, propertyName }) =>
    (propertyName ?? name).text === 'setTimeout' ? name.text : [],
  );
};

const isSleep = (node: ts.Node, names: ReadonlySet<string>): boolean =>
  ts.isAwaitExpression(node) &&
  ts.isCallExpression(node.expression) &&
  ts.isIdentifier(node.expression.expression) &&
  names.has(node.expression.expression.text);
