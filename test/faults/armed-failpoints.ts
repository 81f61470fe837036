import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failpoints } from '../../shared/lib/failpoint.ts';

/**
 * Loaded into every service of a campaign with `node --import`, never part of an image. A failpoint
 * kills its process when a file `<failpoint>.<side>` lies in the folder that the module's URL
 * names; of all processes that pass there, the one that takes the file away dies. While a file
 * `<failpoint>.wait` lies there, whoever passes waits for up to as many milliseconds as it says:
 * what follows one another comes in another order.
 */
const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder === null) throw new Error('armed-failpoints.ts needs ?folder=');
const armed = folder;

/**
 * After the point: whatever comes next (a statement, a message) is under way, its answer not there
 * yet.
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
