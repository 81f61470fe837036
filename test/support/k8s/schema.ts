import path from 'node:path';
import ts from 'typescript';
import { nameOf, type Rendered, root } from './render.ts';

/**
 * Checks objects against kubernetes-models: the compiler refuses a field that a type does not have
 * (the package's validators do not), and the validators check formats that types cannot express.
 */
const PACKAGES: Record<string, string> = {
  'keda.sh': '@kubernetes-models/keda',
  'external-secrets.io': '@kubernetes-models/external-secrets',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};
/** Groups without a package: their types are here. */
const OWN: Record<string, string> = {
  'jetstream.nats.io': './nack.ts',
  'barmancloud.cnpg.io': './barman.ts',
};

/** The API group of an object, empty for the core. */
export const groupOf = ({ apiVersion }: Pick<Rendered, 'apiVersion'>): string =>
  apiVersion.split('/').slice(0, -1).join('/');
/** The module that has an object's type, as test/support/k8s imports it. */
const moduleOf = (object: Pick<Rendered, 'apiVersion' | 'kind'>): string =>
  OWN[groupOf(object)] ??
  `${PACKAGES[groupOf(object)] ?? 'kubernetes-models'}/${object.apiVersion}/${object.kind}`;

const file = path.join(root, 'test/support/k8s/objects.ts');
const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: [],
};

/** The type of an object, as TypeScript writes it. */
export const typeOf = (object: Pick<Rendered, 'apiVersion' | 'kind'>): string =>
  `import('${moduleOf(object)}').I${object.kind}`;

/** Parsed declarations, for all programs: they are most of the work of a small program. */
const declarations = new Map<string, ts.SourceFile | undefined>();

/** A program of one file that is not on the disk. It may use `typeOf`. */
export const programOfText = (text: string): { program: ts.Program; source: ts.SourceFile } => {
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.getSourceFile = (name, ...rest) => {
    if (name === file) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2023);
    if (!declarations.has(name)) declarations.set(name, getSourceFile(name, ...rest));
    return declarations.get(name);
  };
  host.fileExists = (name) => name === file || fileExists(name);
  const program = ts.createProgram([file], options, host);
  return { program, source: program.getSourceFile(file)! };
};

/** The compiler's findings about each object, by its name. */
export const typeErrors = (objects: readonly Rendered[]): string[] => {
  if (objects.length === 0) return [];
  const lines = objects.map(
    (object) => `{ const object: ${typeOf(object)} = ${JSON.stringify(object)}; void object; }`,
  );
  const { program } = programOfText(['export {};', ...lines].join('\n'));
  return ts.getPreEmitDiagnostics(program).map(({ file: where, start, messageText }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, ' ');
    const line = where?.fileName === file ? where.getLineAndCharacterOfPosition(start!).line : 0;
    return `${line === 0 ? 'compiler' : nameOf(objects[line - 1]!)}: ${message}`;
  });
};

type Model = new (object: Rendered) => { validate: () => void };

/** The validators' findings about each object. */
export const formatErrors = async (objects: readonly Rendered[]): Promise<string[]> => {
  const errors: string[] = [];
  for (const object of objects) {
    if (groupOf(object) in OWN) continue;
    const models = (await import(moduleOf(object))) as Record<string, Model>;
    try {
      new models[object.kind]!(object).validate();
    } catch (error) {
      errors.push(`${nameOf(object)}: ${(error as Error).message}`);
    }
  }
  return errors;
};
