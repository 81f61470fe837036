import { expect, test } from '@jest/globals';
import { throttledPrint } from './throttled-print.ts';

test('lines that differ in their time, pid and ids are one line in 5 s, and the next has the count', () => {
  const printed: string[] = [];
  let now = 0;
  const print = throttledPrint(
    (line) => printed.push(line),
    () => now,
  );
  const refused = (second: number) =>
    `[postgres] 20:00:0${second} UTC [4${second}7] FATAL:  permission denied for database "q_${second}a2f"`;
  for (const second of [1, 2, 3]) print(refused(second));
  print('[nats] another line');
  expect(printed).toEqual([refused(1), '[nats] another line']);
  now = 5000;
  print(refused(6));
  expect(printed.at(-1)).toBe(`${refused(6)} (and 2 more like it before)`);
  now = 10_000;
  print(refused(7));
  expect(printed.at(-1)).toBe(refused(7));
});
