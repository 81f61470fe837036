import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lets one process at a time do something with a file. */

const POLL_MS = 50;
const RENEW_MS = 5000;
/** A lock that was not renewed for so long belongs to a process that is suspended or gone. */
const STALE_MS = 30_000;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
const readText = (file: string) => readFile(file, 'utf8').catch(() => null);

const isProcessAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
};

const isStale = async (file: string, owner: string): Promise<boolean> => {
  const [host, pid] = owner.split('\n');
  if (host === hostname() && /^\d+$/.test(pid ?? '') && !isProcessAlive(Number(pid))) return true;
  const changed = await stat(file).catch(() => null);
  return changed !== null && Date.now() - changed.mtimeMs > STALE_MS;
};

/**
 * Removes the lock of a process that is gone. Of concurrent callers, one moves the file. It is read
 * once more before, because another caller may have replaced it meanwhile.
 */
const removeStale = async (file: string, owner: string): Promise<void> => {
  if ((await readText(file)) !== owner) return;
  const moved = `${file}.${randomUUID()}`;
  await rename(file, moved).catch(() => undefined);
  await rm(moved, { force: true });
};

const tryLock = async (file: string, owner: string): Promise<boolean> => {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(owner);
    await handle.close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
};

/**
 * Waits for the lock file and takes it.
 * @returns the function that releases it
 */
export const acquireLock = async (file: string, signal?: AbortSignal): Promise<() => Promise<void>> => {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const owner = [hostname(), process.pid, randomUUID()].join('\n');
  while (!(await tryLock(file, owner))) {
    const held = await readText(file);
    if (held !== null && (await isStale(file, held))) await removeStale(file, held);
    else await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
  const renewing = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, RENEW_MS);
  renewing.unref();
  return async () => {
    clearInterval(renewing);
    if ((await readText(file)) === owner) await rm(file, { force: true });
  };
};

/** Runs `work` while this process has the lock file. */
export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  const release = await acquireLock(file);
  try {
    return await work();
  } finally {
    await release();
  }
};
