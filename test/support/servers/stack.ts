import { readFileSync } from 'node:fs';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';

/**
 * Reads the stack that the e2e project started each time, because pids and ports may change while
 * tests run.
 */
export const runningStack = (): Stack => {
  const file = process.env.STACK_FILE;
  if (file === undefined)
    throw new Error(process.env.STACK_ERROR ?? 'STACK_FILE is not set: run the e2e project');
  return JSON.parse(readFileSync(file, 'utf8')) as Stack;
};

/** Calls `make` n times concurrently. */
export const atOnce = <T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));

/** Counts equal values: `[200, 200, 409]` → `{ 200: 2, 409: 1 }`. */
export const tally = (values: readonly unknown[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
};
