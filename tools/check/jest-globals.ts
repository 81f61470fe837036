// What the rules of the tree use of `@jest/globals`, for tools/check/rules.ts.
import { format } from 'node:util';
import { expect } from 'expect';

type Body = (...values: never[]) => unknown;
type Each = (rows: readonly unknown[]) => (name: string, body: Body) => void;

const found: { name: string; run: () => unknown }[] = [];
let outer: readonly string[] = [];

/** Calls `declare` for each row of a table, with its name, as `each` of Jest does. */
const eachBy =
  (declare: (name: string, body: Body) => void): Each =>
  (rows) =>
  (name, body) => {
    const placeholders = name.match(/%[sdj]/g) ?? [];
    for (const row of rows) {
      const values = Array.isArray(row) ? (row as unknown[]) : [row];
      declare(format(name, ...values.slice(0, placeholders.length)), () => body(...(values as never[])));
    }
  };

const declareTest = (name: string, body: Body): void => {
  found.push({ name: [...outer, name].join(' › '), run: () => body() });
};
const declareGroup = (name: string, body: Body): void => {
  const before = outer;
  outer = [...outer, name];
  body();
  outer = before;
};

/** What a machine lacks a program for. */
const skipTest = (name: string): void => console.log(`left out: ${[...outer, name].join(' › ')}`);

export const test = Object.assign(declareTest, { each: eachBy(declareTest), skip: skipTest });
export const describe = Object.assign(declareGroup, { each: eachBy(declareGroup) });
export { expect };

/** Runs what was declared. @returns how many tests there are, and the failed ones */
export const runDeclared = async (): Promise<{
  count: number;
  failed: { name: string; message: string }[];
}> => {
  const failed: { name: string; message: string }[] = [];
  for (const { name, run } of found) {
    try {
      await run();
    } catch (error) {
      failed.push({ name, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { count: found.length, failed };
};
