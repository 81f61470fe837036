import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import type { Schema } from './schema.ts';
import { type Entry, type Part, sorted } from './surface.ts';

/**
 * The exports of the packages, from their declarations. Types that are generated from the contract
 * are only named here, because the API's part compares them.
 */

const root = path.resolve(import.meta.dirname, '../..');
const GENERATED = /\/generated\/(types|operations)\.d\.ts$/;

/** Declarations as the package ships them. */
const emit = (project: string, outDir: string): void => {
  const compiler = path.join(root, 'node_modules/typescript-native/bin/tsc');
  const options = ['--noEmit', 'false', '--emitDeclarationOnly', '--declaration', '--outDir', outDir];
  execFileSync(process.execPath, [compiler, '--project', project, ...options], { cwd: root, stdio: 'pipe' });
};

type Declaration = ts.Statement & { name?: ts.Node };
/** Where a name is declared: its file, and the declarations there (several of an overload). */
type Found = { file: string; name: string; nodes: ts.Node[] };

/** The declaration files, each parsed once. */
const createFiles = () => {
  const parsed = new Map<string, ts.SourceFile>();
  const read = (file: string): ts.SourceFile => {
    const known = parsed.get(file);
    if (known !== undefined) return known;
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    parsed.set(file, source);
    return source;
  };
  /** The file of an import of our own. Undefined: of another package. */
  const fileOf = (from: string, specifier: ts.Expression | undefined): string | undefined => {
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.'))
      return undefined;
    return path.resolve(path.dirname(from), specifier.text).replace(/\.(ts|js)$/, '.d.ts');
  };
  return { read, fileOf };
};
type Files = ReturnType<typeof createFiles>;

const declaredIn = (source: ts.SourceFile, name: string): ts.Node[] =>
  source.statements.flatMap((statement): ts.Node[] => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.filter((each) => each.name.getText() === name);
    return (statement as Declaration).name?.getText() === name ? [statement] : [];
  });

/** Follows imports and re-exports of a name to its declarations. */
const find = (files: Files, file: string, name: string): Found | undefined => {
  const source = files.read(file);
  const nodes = declaredIn(source, name);
  if (nodes.length > 0) return { file, name, nodes };
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      const { namedBindings } = statement.importClause ?? {};
      const target = files.fileOf(file, statement.moduleSpecifier);
      if (target === undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) continue;
      const found = namedBindings.elements.find((each) => each.name.text === name);
      if (found !== undefined) return find(files, target, (found.propertyName ?? found.name).text);
    }
    if (!ts.isExportDeclaration(statement)) continue;
    const target = files.fileOf(file, statement.moduleSpecifier);
    if (statement.exportClause === undefined) {
      const found = target === undefined ? undefined : find(files, target, name);
      if (found !== undefined) return found;
    } else if (ts.isNamedExports(statement.exportClause)) {
      const found = statement.exportClause.elements.find((each) => each.name.text === name);
      if (found !== undefined && target !== undefined)
        return find(files, target, (found.propertyName ?? found.name).text);
    }
  }
  return undefined;
};

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** The names that a file exports. */
const exportsOf = (files: Files, file: string): string[] =>
  files.read(file).statements.flatMap((statement): string[] => {
    if (ts.isExportDeclaration(statement)) {
      const target = files.fileOf(file, statement.moduleSpecifier);
      if (statement.exportClause === undefined) return target === undefined ? [] : exportsOf(files, target);
      if (ts.isNamedExports(statement.exportClause))
        return statement.exportClause.elements.map((each) => each.name.text);
    }
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map((each) => each.name.getText());
    return [(statement as Declaration).name!.getText()];
  });

const isType = (node: ts.Node): boolean => ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node);

const textOf = (node: ts.Node): string =>
  ts
    .createPrinter({ removeComments: true })
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/\s+/g, ' ');

const KEYWORDS: Partial<Record<ts.SyntaxKind, Schema>> = {
  [ts.SyntaxKind.StringKeyword]: { type: 'string' },
  [ts.SyntaxKind.NumberKeyword]: { type: 'number' },
  [ts.SyntaxKind.BooleanKeyword]: { type: 'boolean' },
  [ts.SyntaxKind.UnknownKeyword]: {},
  [ts.SyntaxKind.AnyKeyword]: {},
};

/** Converts types of TypeScript to schemas. Own types become definitions. */
type Converter = {
  files: Files;
  /** Of the package. */
  name: string;
  folder: string;
  definitions: Record<string, Schema>;
};

const referenceTo = (converter: Converter, node: ts.TypeReferenceNode, file: string): Schema => {
  const name = node.typeName.getText();
  const [first, ...others] = node.typeArguments ?? [];
  if (name === 'Promise' && others.length === 0)
    return { call: { params: [], optional: 0, returns: typeSchema(converter, first, file) } };
  const found = first === undefined ? find(converter.files, file, name) : undefined;
  return found === undefined || GENERATED.test(found.file) ? { ts: textOf(node) } : refer(converter, found);
};

const refer = (converter: Converter, found: Found): Schema => {
  const { name, folder, definitions } = converter;
  const key = `${name}/${path.relative(folder, found.file).replace(/\.d\.ts$/, '')}.${found.name}`;
  if (!(key in definitions)) {
    definitions[key] = {}; // A type may refer to itself.
    definitions[key] = declarationSchema(converter, found);
  }
  return { $ref: `#/definitions/${key}` };
};

const callSchema = (converter: Converter, node: ts.SignatureDeclaration, file: string): Schema => {
  const params = node.parameters.filter((each) => each.name.getText() !== 'this');
  const isOptional = (each: ts.ParameterDeclaration) =>
    each.questionToken !== undefined || each.dotDotDotToken !== undefined;
  return {
    call: {
      params: params.map((each) => typeSchema(converter, each.type, file)),
      optional: params.filter(isOptional).length,
      returns: typeSchema(converter, node.type, file),
    },
  };
};

type TypeMember = ts.TypeElement | ts.ClassElement;
const modifiersOf = (member: TypeMember): ts.SyntaxKind[] =>
  ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []).map(({ kind }) => kind) : [];
const isPrivate = (member: TypeMember): boolean =>
  modifiersOf(member).includes(ts.SyntaxKind.PrivateKeyword) ||
  (member.name !== undefined && ts.isPrivateIdentifier(member.name));

const memberName = (member: TypeMember): string => {
  if (ts.isCallSignatureDeclaration(member)) return '()';
  if (ts.isConstructorDeclaration(member) || ts.isConstructSignatureDeclaration(member)) return 'new';
  if (ts.isIndexSignatureDeclaration(member)) return '[key]';
  const name = member.name!.getText();
  return modifiersOf(member).includes(ts.SyntaxKind.StaticKeyword) ? `static ${name}` : name;
};

const objectSchema = (converter: Converter, all: readonly TypeMember[], file: string): Schema => {
  const members = all.filter((member) => !isPrivate(member));
  const isCall = (member: TypeMember): member is TypeMember & ts.SignatureDeclaration =>
    ts.isFunctionLike(member) && !ts.isAccessor(member) && !ts.isIndexSignatureDeclaration(member);
  const schemaOf = (member: TypeMember) =>
    isCall(member)
      ? callSchema(converter, member, file)
      : typeSchema(converter, (member as ts.PropertySignature).type, file);
  const isNeeded = (member: TypeMember) => (member as ts.PropertySignature).questionToken === undefined;
  return {
    type: 'object',
    // Of overloads the last one counts.
    properties: Object.fromEntries(members.map((member) => [memberName(member), schemaOf(member)])),
    required: [...new Set(members.filter(isNeeded).map(memberName))],
  };
};

const typeSchema = (converter: Converter, node: ts.TypeNode | undefined, file: string): Schema => {
  if (node === undefined) return {};
  const keyword = KEYWORDS[node.kind];
  if (keyword !== undefined) return keyword;
  const isReadonly = ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.ReadonlyKeyword;
  if (ts.isParenthesizedTypeNode(node) || isReadonly) return typeSchema(converter, node.type, file);
  if (ts.isArrayTypeNode(node))
    return { type: 'array', items: typeSchema(converter, node.elementType, file) };
  if (ts.isTypeLiteralNode(node)) return objectSchema(converter, [...node.members], file);
  if (ts.isFunctionTypeNode(node)) return callSchema(converter, node, file);
  if (ts.isTypeReferenceNode(node)) return referenceTo(converter, node, file);
  if (ts.isLiteralTypeNode(node)) return literalSchema(node);
  if (ts.isUnionTypeNode(node)) return unionSchema(converter, node, file);
  if (ts.isIntersectionTypeNode(node)) return intersectionSchema(converter, node, file);
  return { ts: textOf(node) };
};

const literalSchema = ({ literal: value }: ts.LiteralTypeNode): Schema => {
  if (value.kind === ts.SyntaxKind.NullKeyword) return { type: 'null' };
  return { enum: [ts.isStringLiteral(value) ? value.text : value.getText()] };
};

const unionSchema = (converter: Converter, { types }: ts.UnionTypeNode, file: string): Schema => {
  const members = types
    .filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword)
    .map((each) => typeSchema(converter, each, file));
  const values = members.flatMap((each) => each.enum ?? []);
  const others = members.filter((each) => each.enum === undefined);
  const all = [...(values.length === 0 ? [] : [{ enum: values }]), ...others];
  return all.length === 1 ? all[0]! : { anyOf: all };
};

/** An intersection of objects is one object. */
const intersectionSchema = (converter: Converter, node: ts.IntersectionTypeNode, file: string): Schema => {
  const parts = node.types.map((each) => typeSchema(converter, each, file));
  const inner = ({ $ref, ...own }: Schema): Schema =>
    $ref === undefined ? own : inner(converter.definitions[$ref.replace('#/definitions/', '')]!);
  const isObject = (part: Schema) => ['properties', 'allOf'].some((key) => key in inner(part));
  return parts.every(isObject) ? { allOf: parts } : { ts: textOf(node) };
};

/** A class or interface, with what it extends if that is our own. */
const classSchema = (
  converter: Converter,
  node: ts.ClassDeclaration | ts.InterfaceDeclaration,
  file: string,
): Schema => {
  const bases = (node.heritageClauses ?? []).flatMap(({ types }) =>
    types.map((each) => find(converter.files, file, each.expression.getText())),
  );
  const own = bases.filter((each) => each !== undefined).map((each) => refer(converter, each));
  return {
    ...objectSchema(converter, [...node.members], file),
    ...(own.length > 0 && { allOf: own }),
  };
};

const declarationSchema = (converter: Converter, { nodes, file }: Found): Schema => {
  const node = nodes.at(-1)!;
  if (ts.isFunctionDeclaration(node)) return callSchema(converter, node, file);
  if (ts.isVariableDeclaration(node)) return typeSchema(converter, node.type, file);
  if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node))
    return classSchema(converter, node, file);
  if (!ts.isTypeAliasDeclaration(node)) return { ts: textOf(node) };
  return node.typeParameters === undefined
    ? typeSchema(converter, node.type, file)
    : { ts: textOf(node.type) };
};

type Package = { name: string; exports: Record<string, { types?: string } | string> };

/**
 * The exports of a package.
 * @param folder its declarations, in place of its `dist`
 */
export const exportsIn = (given: Package, folder: string): Part => {
  const files = createFiles();
  const definitions: Record<string, Schema> = {};
  const converter: Converter = { files, name: given.name, folder, definitions };
  const entries: Record<string, Entry> = {};
  for (const [name, target] of Object.entries(given.exports)) {
    if (typeof target === 'string' || target.types === undefined) continue;
    const file = path.join(folder, target.types.replace('./dist/', ''));
    if (!existsSync(file)) throw new Error(`${given.name} exports ${target.types}, which is not built`);
    const module = `${given.name}${name.slice(1)}`;
    for (const exported of exportsOf(files, file)) {
      const found = find(files, file, exported);
      entries[`${module} ${exported}`] =
        found === undefined || GENERATED.test(found.file)
          ? {}
          : { [found.nodes.every(isType) ? 'shape' : 'gives']: refer(converter, found) };
    }
  }
  return { entries: sorted(entries), definitions: sorted(definitions) };
};

/** The exports of the packages that programs import. */
export const sdkPart = (): Part => {
  const parts = ['sdk', 'mcp'].map((project) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'quittance-declarations-'));
    try {
      emit(project, folder);
      const manifest = readFileSync(path.join(root, project, 'package.json'), 'utf8');
      return exportsIn(JSON.parse(manifest) as Package, folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  return {
    entries: sorted(Object.assign({}, ...parts.map(({ entries }) => entries))),
    definitions: sorted(Object.assign({}, ...parts.map(({ definitions }) => definitions))),
  };
};
