import { afterEach, expect, jest, test } from '@jest/globals';
import type { Logger } from '../lib/logger.ts';
import { everyMs, type Periodic } from '../lib/periodic.ts';
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
  track({ inFlight: new Set() } as unknown as Bus, Promise.resolve());
  await jest.advanceTimersByTimeAsync(20_500);
  expect(runs - quiet).toBe(24);
});
