// The programs of an image, which `npm start` also runs: one program for every service and job,
// built from the sources and packages that it uses (docs/design/choices.md).
//   node deploy/image/bundle.ts <folder>
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { buildOf } from '../../shared/lib/telemetry/version.ts';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * The flags with which Node runs a service. By default V8's young generation grows to three times
 * 16 MB, and a service with small responses fills it with garbage. With 2 MB it is collected so
 * often that a settle costs a tenth more CPU (docs/benchmarks.md).
 */
export const NODE_FLAGS = ['--max-semi-space-size=8'];

const PROGRAMS = ['services/*/main.ts', 'shared/jobs/*.ts'];
/**
 * Files that a program reads while it runs. They are listed by name, so that a stray key or dump is
 * not shipped.
 */
const ASSETS = [
  'services/*/limits/*.lua',
  '{services,shared}/*/migrations/*.sql',
  'shared/db/*.sql',
  'console/dist/**/*.{html,js,css,svg,woff2,br,gz}',
  'docs/site/dist/**/*.{html,js,css,svg,woff2,md,txt,xml,json,br,gz}',
];

/** The time of every file: some tools misread a time of 0. */
const BUILT_AT = new Date('2000-01-01T00:00:00Z');

/** CommonJS packages inside an ES module need `require` and the path of their file. */
export const BANNER = [
  "import { createRequire as createRequireOfBundle } from 'node:module';",
  'const require = createRequireOfBundle(import.meta.url);',
  'const [__filename, __dirname] = [import.meta.filename, import.meta.dirname];',
].join(' ');

/** Name and version of the package that a bundled file is from, and its folder. */
const packageOf = (file: string): { id: string; folder: string } | null => {
  const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
  if (found === null) return null;
  const folder = path.join(root, found[1]!);
  const { name, version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return { id: `${name}@${version}`, folder };
};

/**
 * Imports of @solana/web3.js that only its RPC client needs. We have our own client, and without
 * that client the imports have no effect. One of them replaces `fetch` for a Node without it and
 * brings tables of the letters of every script.
 */
const withoutClient: Plugin = {
  name: 'without-client',
  setup: ({ onLoad, onResolve, resolve }) => {
    onResolve({ filter: /^(jayson\/lib\/client\/browser|rpc-websockets)$/ }, async (asked) => {
      const { path: place, kind, importer, resolveDir, pluginData } = asked;
      if (pluginData === true) return null;
      return {
        ...(await resolve(place, { kind, importer, resolveDir, pluginData: true })),
        sideEffects: false,
      };
    });
    onResolve({ filter: /^node-fetch$/ }, () => ({ path: 'fetch', namespace: 'node' }));
    onLoad({ filter: /./, namespace: 'node' }, () => ({ contents: 'export default fetch;' }));
  },
};

/** The licences require that a copy of the package carries them. */
export const copyLicences = (inputs: readonly string[], folder: string): void => {
  const packages = new Map(
    inputs.flatMap((file) => packageOf(file) ?? []).map((each) => [each.id, each.folder]),
  );
  for (const [id, from] of packages) {
    const to = path.join(folder, 'licences', id.replace('/', '+'));
    mkdirSync(to, { recursive: true });
    for (const file of globSync('{licen[cs]e,notice,copying,LICEN[CS]E,License,NOTICE,COPYING}*', {
      cwd: from,
    }))
      if (statSync(path.join(from, file)).isFile()) copy(path.join(from, file), path.join(to, file));
  }
};

/**
 * koffi is a native module, so it stays a package beside the programs: its JavaScript and its
 * binary for this platform. Only a configured `pkcs11:` key loads it.
 */
const NATIVE = [
  'node_modules/koffi/{package.json,index.js,src/koffi/index.js,src/koffi/src/*.js}',
  'node_modules/@koromix/koffi-*/{package.json,index.js,*/koffi.node}',
];

const copyNative = (folder: string): string[] => {
  const files = NATIVE.flatMap((pattern) => globSync(pattern, { cwd: root }));
  for (const file of files) copy(path.join(root, file), path.join(folder, file));
  return files;
};

const copy = (from: string, to: string): void => {
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(from, to);
};

/**
 * How the programs are built into a folder.
 * @param modules further entry points, which share their modules with the programs
 * @param from the tree with the sources
 */
export const buildOptions = (folder: string, modules: readonly string[] = [], from = root) =>
  ({
    absWorkingDir: from,
    entryPoints: [...PROGRAMS, ...modules].flatMap((pattern) => globSync(pattern, { cwd: from })),
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // Tree shaking removes unused code from ES modules only.
    mainFields: ['module', 'main'],
    plugins: [withoutClient],
    define: { QUITTANCE_BUILD: JSON.stringify(buildOf(from, process.env.COMMIT)) },
    // `debug` colours its output if this package is installed, which is so only in development.
    external: ['supports-color', 'koffi'],
    target: `node${process.versions.node.split('.')[0]}`,
    chunkNames: 'chunks/[name]-[hash]',
    // Read only if a service runs with --enable-source-maps, which costs it 15 to 30 MB.
    sourcemap: 'linked',
    sourcesContent: false,
    banner: { js: BANNER },
    metafile: true,
    logLevel: 'error',
  }) satisfies BuildOptions;

/** The files that programs read while they run. */
export const copyAssets = (folder: string, from = root): void => {
  for (const file of ASSETS.flatMap((pattern) => globSync(pattern, { cwd: from })))
    copy(path.join(from, file), path.join(folder, file));
};

/**
 * Writes the programs, the files that they read and the licences of their packages.
 * @param modules further entry points, as for `buildOptions`
 */
export const bundle = async (folder: string, modules: readonly string[] = []): Promise<void> => {
  const { metafile } = await build(buildOptions(folder, modules));
  copyLicences([...Object.keys(metafile.inputs), ...copyNative(folder)], folder);
  copyAssets(folder);
  for (const file of ['main.mjs', 'signals.mjs'])
    copy(path.join(import.meta.dirname, file), path.join(folder, file));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
  // The modes do not depend on the user or the umask of the check-out: the image's user owns
  // nothing and can read everything.
  chmodSync(folder, 0o755);
  const files = globSync('**', { cwd: folder, withFileTypes: true });
  for (const each of files)
    chmodSync(path.join(each.parentPath, each.name), each.isDirectory() ? 0o755 : 0o644);
  // The times do not depend on the build, so that two builds make the same layer.
  for (const each of files) utimesSync(path.join(each.parentPath, each.name), BUILT_AT, BUILT_AT);
};

const DAY_MS = 86_400_000;

/**
 * The programs of these sources in a folder of the repository. They are built if they do not exist.
 * @param modules further entry points, as for `bundle`
 * @returns the folder, which stays the same until a source changes
 */
export const bundled = async (modules: readonly string[] = []): Promise<string> => {
  const hash = createHash('sha256').update(JSON.stringify(buildOf(root, process.env.COMMIT)));
  const sources = globSync(
    [
      '{services,shared}/**/*.{ts,sql,html,css,js,lua}',
      '{console,docs/site}/dist/**/*.*',
      'deploy/image/*',
      'package-lock.json',
      ...modules,
    ],
    { cwd: root },
  );
  for (const file of sources.sort()) hash.update(file).update(readFileSync(path.join(root, file)));
  const all = path.join(root, '.local/programs');
  const folder = path.join(all, hash.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    // Several processes may build at once, and none may see an incomplete folder.
    const making = path.join(all, randomUUID());
    await bundle(making, modules);
    try {
      renameSync(making, folder);
    } catch {
      rmSync(making, { recursive: true, force: true });
    }
  }
  utimesSync(folder, new Date(), new Date());
  for (const other of globSync('*', { cwd: all }).map((name) => path.join(all, name)))
    if (Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0) > DAY_MS)
      rmSync(other, { recursive: true, force: true });
  return folder;
};

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || existsSync(folder))
    throw new Error(
      'The argument is missing or names an existing folder: name a folder that does not exist yet',
    );
  await bundle(path.resolve(folder));
  utimesSync(folder, BUILT_AT, BUILT_AT);
}
