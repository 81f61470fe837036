// What an image holds, and how it is made: the Dockerfile runs this file, and image.integration.test.ts builds the same
// folder with it and boots every service from there.
//   node deploy/image/layout.ts packages <folder> [npm options]   package.json and node_modules by the lock file
//   node deploy/image/layout.ts product <folder>                  our own files
// It imports Node alone: in the first stage of the image there is nothing else yet.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** Named, so that a key or a dump that lies about is not shipped; a kind that is missing shows when a service boots. */
const KINDS = 'ts,sql,html,css,js';
/** What tests them and what only shows people the schema stays outside. */
const isProduct = (file: string): boolean => !/(\.test|\/test-support)\.ts$|\/schema\.sql$/.test(file);

/** Node runs no TypeScript below node_modules, so none of it is ever read there; nor are maps and manuals. Licences stay. */
const isDeadWeight = (file: string): boolean =>
  /\.[cm]?tsx?$|\.map$|\.flow$/.test(file) ||
  (/\.(md|markdown)$/i.test(file) && !/^(licen[cs]e|notice|copying)/i.test(path.basename(file)));

/** Of a package, its tests and examples. Nothing deeper: a folder below `lib` may be called `test` and be needed. */
const SPARE_FOLDERS = /^(tests?|__tests__|bench|benchmarks?|examples?|docs)$/;

const OUTER_NPM = /^npm_(package_.*|lifecycle_.*|command|execpath|config_local_prefix)$/;

/** Here for their types alone: peers of @solana's codecs, which npm counts as production. */
const TYPES_ONLY = ['typescript', '@types'];

/** Whoever checked the sources out, and with which umask: the image's user owns nothing and reads everything. */
const readable = (work: () => void): void => {
  const before = process.umask(0o022);
  try {
    work();
  } finally {
    process.umask(before);
  }
};
const copy = (from: string, to: string): void => {
  cpSync(from, to);
  chmodSync(to, 0o644);
};

/**
 * Installs the production dependencies that the lock file names, without their install scripts, and takes out what
 * no process reads.
 * @throws when npm fails; its messages are printed
 */
export const installPackages = (folder: string, npmOptions: readonly string[] = []): void =>
  readable(() => install(folder, npmOptions));

const install = (folder: string, npmOptions: readonly string[]): void => {
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copy(path.join(root, file), path.join(folder, file));
  const args = ['ci', '--prefix', folder, '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  // Without what an outer npm says of the script that it runs: this one must not take its folder for its own.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OUTER_NPM.test(name)));
  const { status, error } = spawnSync('npm', [...args, ...npmOptions], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (error || status !== 0) throw new Error(`npm ci failed: ${error?.message ?? `exit code ${status}`}`);
  prune(path.join(folder, 'node_modules'));
  rmSync(path.join(folder, 'package-lock.json'));
};

const prune = (modules: string): void => {
  for (const name of [...TYPES_ONLY, '.bin', '.package-lock.json'])
    rmSync(path.join(modules, name), { recursive: true, force: true });
  for (const manifest of globSync('**/package.json', { cwd: modules })) {
    const folder = path.join(modules, path.dirname(manifest));
    if (!/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/.test(folder)) continue;
    for (const name of readdirSync(folder))
      if (SPARE_FOLDERS.test(name)) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  for (const file of globSync('**/*', { cwd: modules }))
    if (isDeadWeight(file)) rmSync(path.join(modules, file), { recursive: true, force: true });
};

/** Our own files, by their folders: a new service is in the image without a word here. */
export const copyProduct = (folder: string): void =>
  readable(() => {
    mkdirSync(folder, { recursive: true });
    for (const file of globSync(`{services,shared}/**/*.{${KINDS}}`, { cwd: root }).filter(isProduct))
      copy(path.join(root, file), path.join(folder, file));
    for (const file of globSync('console/dist/**/*.*', { cwd: root }))
      copy(path.join(root, file), path.join(folder, file));
    copy(path.join(import.meta.dirname, 'main.mjs'), path.join(folder, 'main.mjs'));
  });

if (import.meta.main) {
  const [part, folder, ...npmOptions] = process.argv.slice(2);
  if (folder === undefined || existsSync(folder)) throw new Error('name a folder that does not exist yet');
  if (part === 'packages') installPackages(folder, npmOptions);
  else if (part === 'product') copyProduct(folder);
  else throw new Error('there are the parts `packages` and `product`');
}
