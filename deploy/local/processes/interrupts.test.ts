import { expect, test } from '@jest/globals';
import { createInterrupts } from './interrupts.ts';

test('a Ctrl-C that npm passes on is the same one, and a later Ctrl-C kills', () => {
  let time = 5;
  const done: string[] = [];
  const interrupt = createInterrupts(
    { stop: () => done.push('stop'), abort: () => done.push('abort') },
    () => time,
  );
  for (const at of [5, 20, 900, 1200, 9000]) {
    time = at;
    interrupt();
  }
  expect(done).toEqual(['stop', 'stop', 'stop', 'abort', 'abort']);
});
