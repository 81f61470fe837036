// What several processes need is made once: by one of them, completely or not at all. Plain
// JavaScript, because the set-up runs on any Node from 20 before anything is installed.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;

/**
 * Fills a folder once. What the folder contains is complete if it exists, so its name has whatever
 * its content depends on: a version or a hash.
 * @param fill writes into the empty folder that it is given, which then gets its name
 * @returns the folder
 * @throws what `fill` throws; then nothing is left behind
 */
export async function ensureOnce(folder, fill, say = () => {}) {
  if (existsSync(folder)) return folder;
  return whileClaimed(`${folder}.claim`, say, async () => {
    if (existsSync(folder)) return folder;
    await staged(folder, async (stage) => {
      await fill(stage);
      renameSync(stage, folder);
    });
    return folder;
  });
}

/**
 * Gives `use` an empty folder beside `folder`, and removes it afterwards, also those of processes
 * that were killed. Call it while the folder is claimed.
 */
export async function staged(folder, use) {
  const parent = path.dirname(folder);
  const prefix = `${path.basename(folder)}.new-`;
  mkdirSync(parent, { recursive: true });
  const remove = (name) => rmSync(path.join(parent, name), { recursive: true, force: true, maxRetries: 3 });
  for (const name of readdirSync(parent)) if (name.startsWith(prefix)) remove(name);
  const name = `${prefix}${process.pid}`;
  mkdirSync(path.join(parent, name));
  try {
    return await use(path.join(parent, name));
  } finally {
    remove(name);
  }
}

/**
 * Runs `use` while this process holds the claim. Others wait, and say once for whom. The claim of a
 * process that was killed counts no more.
 */
export async function whileClaimed(file, say, use) {
  mkdirSync(path.dirname(file), { recursive: true });
  const own = identityOf(process.pid);
  for (let waitsFor; !claim(file, own); await sleep(RETRY_MS)) {
    const holder = read(file);
    if (holder === undefined || holder === waitsFor) continue;
    waitsFor = holder;
    say(`waiting for process ${holder.split(' ')[0]}, which holds ${path.basename(file)}`);
  }
  try {
    return await use();
  } finally {
    if (read(file) === own) rmSync(file, { force: true });
  }
}

/**
 * The claim is a hard link of a complete file, so that no process reads a half-written one, and
 * only one of two succeeds.
 */
function claim(file, own) {
  const holder = read(file);
  if (holder !== undefined && !isAlive(holder)) removeStale(file, holder);
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, own);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Another process may have replaced the stale claim since it was read. Then it gets it back. */
function removeStale(file, expected) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    if (read(aside) !== expected) linkSync(aside, file);
  } catch {
    // Another process was faster.
  } finally {
    rmSync(aside, { force: true });
  }
}

/** A pid and its start time, because another process gets the pid of one that ended. */
function identityOf(pid) {
  return `${pid} ${startOf(pid) ?? ''}`;
}

function isAlive(holder) {
  const [pid] = holder.split(' ');
  return startOf(Number(pid)) !== undefined && holder === identityOf(Number(pid));
}

function startOf(pid) {
  try {
    if (process.platform !== 'linux')
      return (
        execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
      );
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may contain spaces. The state is field 3, the start time 22.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
