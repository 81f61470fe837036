import { expect, test } from '@jest/globals';
import { batched } from './batched.ts';

const withCode = (code: string) => Object.assign(new Error('failed'), { code });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A statement that answers when it is told to. */
const statement = () => {
  const asked: string[][] = [];
  const answers: (() => void)[] = [];
  const run = async (items: readonly string[]): Promise<string[]> => {
    asked.push([...items]);
    await new Promise<void>((resolve) => answers.push(resolve));
    return items.map((item) => item.toUpperCase());
  };
  const answer = async () => {
    answers.shift()!();
    await turn();
  };
  return { run, asked, answer };
};

test('a turn’s items share a statement, what arrives meanwhile shares the next one, each gets its own result', async () => {
  const { run, asked, answer } = statement();
  const ask = batched(run);
  const first = [ask('a'), Promise.resolve().then(() => ask('b'))];
  await turn();
  const second = [ask('c'), ask('d')];
  await turn();
  expect(asked).toEqual([['a', 'b']]);
  await answer();
  expect(await Promise.all(first)).toEqual(['A', 'B']);
  await answer();
  expect(await Promise.all(second)).toEqual(['C', 'D']);
  const last = ask('e');
  await turn();
  await answer();
  expect(await last).toBe('E');
  expect(asked).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('a key stands once in a statement and keeps its order; a statement has a largest size', async () => {
  const asked: string[][] = [];
  const ask = batched(
    async (items: readonly string[]) => {
      asked.push([...items]);
      return items;
    },
    { keyOf: (item) => item[0]!, maxItems: 3 },
  );
  const items = ['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'd1'];
  expect(await Promise.all(items.map(ask))).toEqual(items);
  expect(asked).toEqual([['a1', 'b1', 'c1'], ['a2', 'b2', 'd1'], ['a3']]);
});

test('a statement that one row fails is tried for each alone; what says nothing of rows is everybody’s', async () => {
  const asked: string[][] = [];
  const ask = batched(async (items: readonly string[]) => {
    asked.push([...items]);
    if (items.includes('twice')) throw new Error('wrapped', { cause: withCode('23505') });
    if (items.includes('gone')) throw withCode('57P01');
    return items;
  });
  const settled = await Promise.allSettled(['a', 'twice', 'b'].map(ask));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(asked).toEqual([['a', 'twice', 'b'], ['a'], ['twice'], ['b']]);
  const away = await Promise.allSettled(['c', 'gone'].map(ask));
  expect(away.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked.at(-1)).toEqual(['c', 'gone']);
  expect(await ask('d')).toBe('d');
});
