import { expect, test } from '@jest/globals';
import { distinctBatches } from './distinct-batches.ts';

test.each<[string, string, string[]]>([
  ['nothing', '', []],
  ['each once', 'a1 b1 c1', ['a1 b1 c1']],
  ['one key repeatedly', 'a1 a2 a3', ['a1', 'a2', 'a3']],
  ['items of a key in their order, with others between', 'a1 b1 a2 c1 b2 a3', ['a1 b1 c1', 'a2 b2', 'a3']],
])('items are split into batches: %s', (_name, items, expected) => {
  const parts = distinctBatches(items.split(' ').filter(Boolean), (item) => item[0]!);
  expect(parts.map((part) => part.join(' '))).toEqual(expected);
});
