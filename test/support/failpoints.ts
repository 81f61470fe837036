import { failpoints } from '../../shared/lib/failpoint.ts';

/**
 * Loaded with `node --import`, never part of an image: puts faults in the place of the empty hooks. TEST_FAILPOINTS
 * is a comma separated list of `name=crash` (SIGKILL to oneself) or `name=hang` (never gets past).
 */
for (const entry of (process.env.TEST_FAILPOINTS ?? '').split(',').filter((text) => text !== '')) {
  const [name, fault] = entry.split('=') as [keyof typeof failpoints, 'crash' | 'hang'];
  if (!Object.hasOwn(failpoints, name)) throw new Error(`no failpoint ${name}`);
  failpoints[name] = () => {
    if (fault === 'crash') process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };
}
