// Loaded into a service by `node --import`. SIGWINCH begins a CPU profile, and the next SIGWINCH
// writes it to the path in `--profile=`. The profile contains only the measured time, without start
// and warm-up.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';

const PREFIX = '--profile=';
const target = process.argv.find((each) => each.startsWith(PREFIX))?.slice(PREFIX.length);
if (target !== undefined) {
  mkdirSync(path.dirname(target), { recursive: true });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  let taken = 0;
  let isRunning = false;
  process.on('SIGWINCH', async () => {
    isRunning = !isRunning;
    if (isRunning) return session.post('Profiler.start');
    const { profile } = await session.post('Profiler.stop');
    taken += 1;
    writeFileSync(`${target}.${process.pid}.${taken}.cpuprofile`, JSON.stringify(profile));
  });
}
