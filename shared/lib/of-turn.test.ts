import { expect, test } from '@jest/globals';
import { inParts, ofTurn } from './of-turn.ts';

const LATERS: [string, ((run: () => void) => unknown) | undefined][] = [
  ['after other events', undefined],
  ['before them', process.nextTick],
];

test.each(LATERS)('what is asked in one turn is loaded in parts, %s', async (_name, later) => {
  const loads: number[][] = [];
  const load = async (inputs: readonly number[]) => {
    loads.push([...inputs]);
    return inputs.map((input) => input * 2);
  };
  const double = ofTurn(inParts(load, 2), later);
  const afterHops = async (input: number) => {
    for (let hop = 0; hop < input; hop += 1) await null;
    return double(input);
  };
  expect(await Promise.all([1, 2, 3].map(afterHops))).toEqual([2, 4, 6]);
  expect(await double(4)).toBe(8);
  expect(loads).toEqual([[1, 2], [3], [4]]);
});

test('a load that fails, or throws, rejects those of its part', async () => {
  const load = (inputs: readonly number[]) => {
    if (inputs.includes(1)) throw new Error('a bug');
    return Promise.resolve(inputs);
  };
  const read = ofTurn(inParts(load, 2));
  const answers = await Promise.allSettled([1, 2, 3].map(read));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});
