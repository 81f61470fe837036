import { afterEach, expect, jest, test } from '@jest/globals';
import { everyMs, type Periodic } from '../lib/periodic.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { type Bus, track } from './connect.ts';

let sweep: Periodic | undefined;
afterEach(async () => {
  await sweep?.stop();
  jest.useRealTimers();
});

test('a call or a message ends the long pauses of a quiet process', async () => {
  jest.useFakeTimers();
  let runs = 0;
  const job = async () => {
    runs += 1;
  };
  sweep = everyMs(1000, 'clock', job, {} as Logger);
  await jest.advanceTimersByTimeAsync(60_000);
  const quiet = runs;
  await jest.advanceTimersByTimeAsync(20_000);
  expect(runs - quiet).toBe(4);
  const bus = { inFlight: new Set() } as unknown as Bus;
  track(bus, Promise.resolve(), true);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(runs - quiet).toBe(8);
  track(bus, Promise.resolve());
  await jest.advanceTimersByTimeAsync(20_500);
  // One more, because the next common moment of the jobs may follow at once.
  expect([28, 29]).toContain(runs - quiet);
});
