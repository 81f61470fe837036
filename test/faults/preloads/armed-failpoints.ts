import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failpoints } from '../../../shared/lib/failpoint.ts';

/**
 * Loaded into every service of a campaign with `node --import`, never part of an image. A failpoint
 * kills its process when a file `<failpoint>.<side>` is in the folder that the module's URL names.
 * Of all processes that pass it, the one that removes the file dies. While a file
 * `<failpoint>.wait` is there, each process that passes waits for up to the milliseconds in it,
 * which changes the order of operations.
 */
const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder === null) throw new Error('armed-failpoints.ts needs ?folder=');
const armed = folder;

/**
 * After the point: the next operation (a statement, a message) has begun, and its answer has not
 * arrived.
 */
const LATEST_MS = 6;

const taken = (name: string, side: string): boolean => {
  const file = path.join(armed, `${name}.${side}`);
  try {
    unlinkSync(file);
  } catch {
    return false;
  }
  writeFileSync(`${file}.hit`, String(process.pid));
  return true;
};

/** Zero without the file. */
const longestWaitMs = (name: string): number => {
  try {
    return Number(readFileSync(path.join(armed, `${name}.wait`), 'utf8'));
  } catch {
    return 0;
  }
};

for (const name of Object.keys(failpoints) as (keyof typeof failpoints)[]) {
  failpoints[name] = async () => {
    const waitMs = longestWaitMs(name);
    if (waitMs > 0) await sleep(Math.random() * waitMs);
    if (taken(name, 'before')) process.kill(process.pid, 'SIGKILL');
    if (taken(name, 'after'))
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), Math.random() * LATEST_MS);
  };
}
