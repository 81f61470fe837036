import { expect, test } from '@jest/globals';
import { batched } from './batched.ts';

const withCode = (code: string) => Object.assign(new Error('failed'), { code });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A statement whose answer the test controls. */
const statement = () => {
  const statements: string[][] = [];
  const answers: (() => void)[] = [];
  const run = async (items: readonly string[]): Promise<string[]> => {
    statements.push([...items]);
    await new Promise<void>((resolve) => answers.push(resolve));
    return items.map((item) => item.toUpperCase());
  };
  const answer = async () => {
    answers.shift()!();
    await turn();
  };
  return { run, statements, answer };
};

test('items of one turn share a statement, items that arrive meanwhile share the next one, and each gets its own result', async () => {
  const { run, statements, answer } = statement();
  const ask = batched(run);
  const first = [ask('a'), Promise.resolve().then(() => ask('b'))];
  await turn();
  const second = [ask('c'), ask('d')];
  await turn();
  expect(statements).toEqual([['a', 'b']]);
  await answer();
  expect(await Promise.all(first)).toEqual(['A', 'B']);
  await answer();
  expect(await Promise.all(second)).toEqual(['C', 'D']);
  const last = ask('e');
  await turn();
  await answer();
  expect(await last).toBe('E');
  expect(statements).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('a statement contains a key once, items of one key keep their order, and the size of a statement is bounded', async () => {
  const statements: string[][] = [];
  const ask = batched(
    async (items: readonly string[]) => {
      statements.push([...items]);
      return items;
    },
    { keysOf: (item) => [item[0]!], maxItems: 3 },
  );
  const items = ['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'd1'];
  expect(await Promise.all(items.map(ask))).toEqual(items);
  expect(statements).toEqual([['a1', 'b1', 'c1'], ['a2', 'b2', 'd1'], ['a3']]);
});

test('if one row makes a statement fail, each item is tried alone; any other error goes to all items', async () => {
  const statements: string[][] = [];
  const ask = batched(async (items: readonly string[]) => {
    statements.push([...items]);
    if (items.includes('twice')) throw new Error('wrapped', { cause: withCode('23505') });
    if (items.includes('gone')) throw withCode('57P01');
    return items;
  });
  const settled = await Promise.allSettled(['a', 'twice', 'b'].map(ask));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(statements).toEqual([['a', 'twice', 'b'], ['a'], ['twice'], ['b']]);
  const unavailable = await Promise.allSettled(['c', 'gone'].map(ask));
  expect(unavailable.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(statements.at(-1)).toEqual(['c', 'gone']);
  expect(await ask('d')).toBe('d');
});
