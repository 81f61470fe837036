import { setTimeout as sleep } from 'node:timers/promises';
import { failpoints } from '../../../shared/lib/failpoint.ts';

const WAIT_MS = 4000;

/**
 * Loaded with `node --import`, never part of an image: replaces the empty hooks by failpoints.
 * TEST_FAILPOINTS is a comma separated list of `name=crash` (SIGKILL of this process) or
 * `name=wait` (4 s, once).
 */
for (const entry of (process.env.TEST_FAILPOINTS ?? '').split(',').filter((text) => text !== '')) {
  const [name, fault] = entry.split('=') as [keyof typeof failpoints, 'crash' | 'wait'];
  if (!Object.hasOwn(failpoints, name)) throw new Error(`there is no failpoint ${name}`);
  let waited = false;
  failpoints[name] = async () => {
    if (fault === 'crash') process.kill(process.pid, 'SIGKILL');
    if (!waited) {
      waited = true;
      console.error(`${name} waits`);
      await sleep(WAIT_MS);
    }
  };
}
