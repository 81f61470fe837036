// Folders of packages, as npm fills them: compared by npm's record of them, and put together.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const RECORD = '.package-lock.json';

/** npm's record of the packages in a folder, or undefined if npm did not fill it to the end. */
export function packagesIn(modules) {
  try {
    const { packages } = JSON.parse(readFileSync(path.join(modules, RECORD), 'utf8'));
    // `npm install --package-lock-only` also writes what it did not install.
    const isOnDisk = ([at]) => existsSync(path.join(modules, at.replace('node_modules/', '')));
    return Object.fromEntries(Object.entries(packages).filter(isOnDisk));
  } catch {
    return undefined;
  }
}

/** Whether everything that is there is locked with the same content, so that nothing changes. */
export function isAddition(there, locked) {
  return Object.entries(there).every(
    ([at, { integrity, link }]) => link || (integrity !== undefined && locked[at]?.integrity === integrity),
  );
}

/**
 * Moves the packages that `to` does not have out of `from`. Nothing in `to` is changed or removed,
 * and each package appears at once, so that processes may use it meanwhile.
 */
export function addMissing(from, to) {
  const records = [to, from].map(packagesIn);
  move(from, to);
  if (records.some((record) => record === undefined)) return;
  const record = JSON.parse(readFileSync(path.join(from, RECORD), 'utf8'));
  const added = path.join(from, `${RECORD}.new`);
  writeFileSync(added, JSON.stringify({ ...record, packages: { ...records[1], ...records[0] } }, null, 2));
  renameSync(added, path.join(to, RECORD));
}

function move(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (name === RECORD || name === '.stamp') continue;
    if (!exists(target)) renameSync(source, target);
    else if (name.startsWith('@') || name === '.bin') move(source, target);
    else if (existsSync(path.join(source, 'node_modules')))
      move(path.join(source, 'node_modules'), path.join(target, 'node_modules'));
  }
}

/** A link counts whether or not it leads anywhere. */
function exists(target) {
  return lstatSync(target, { throwIfNoEntry: false }) !== undefined;
}
