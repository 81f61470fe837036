import { expect, jest, test } from '@jest/globals';
import { createFinalizedBlocks } from './finalized-blocks.ts';
import { RpcRefused, RpcUnavailable } from './json-rpc.ts';

type Block = number | 'refused' | 'unavailable' | 'unknown';

/** A provider of blocks, each by the number of its transactions. They have all but `lacks`. */
const providerOf = (blocks: Record<number, Block>, lacks: readonly string[] = []) => {
  const asked: number[] = [];
  const read = createFinalizedBlocks({
    finalizedBlock: async (slot, signatures) => {
      asked.push(slot);
      const block = blocks[slot];
      if (block === 'refused') throw new RpcRefused(-32007, 'skipped');
      if (block === 'unavailable') throw new RpcUnavailable('too long');
      if (block === 'unknown' || block === undefined) return null;
      const included = [...signatures].filter((signature) => !lacks.includes(signature));
      return {
        transactions: block,
        changes: new Map(included.map((signature) => [signature, { deltaOf: () => 1n, cost: null }])),
      };
    },
  });
  return { asked, read };
};
const ofSlot = (slot: number | null, count: number) =>
  Array.from({ length: count }, (_, index) => ({ slot, signature: `${slot}-${index}` }));

test.each<
  [
    string,
    { blocks: Record<number, Block>; slots: [number | null, number][]; asked: number[]; found: number },
  ]
>([
  ['five of ours are read by their block', { blocks: { 7: 5 }, slots: [[7, 5]], asked: [7], found: 5 }],
  ['four are not', { blocks: { 7: 4 }, slots: [[7, 4]], asked: [], found: 0 }],
  [
    'each slot by itself',
    {
      blocks: { 7: 9, 8: 9 },
      slots: [
        [7, 5],
        [8, 6],
      ],
      asked: [7, 8],
      found: 11,
    },
  ],
  ['an unknown slot is none', { blocks: { 7: 9 }, slots: [[null, 9]], asked: [], found: 0 }],
  [
    'a block that the provider lacks',
    {
      blocks: { 7: 'unknown', 8: 9 },
      slots: [
        [7, 5],
        [8, 5],
      ],
      asked: [7, 8],
      found: 5,
    },
  ],
  [
    'a slot without a block: none is asked for a while',
    {
      blocks: { 7: 'refused', 8: 9 },
      slots: [
        [7, 5],
        [8, 5],
      ],
      asked: [7],
      found: 0,
    },
  ],
  ['a block that is too long', { blocks: { 7: 'unavailable' }, slots: [[7, 5]], asked: [7], found: 0 }],
  [
    'after a large block few of ours are read one by one',
    {
      blocks: { 7: 2000, 8: 2000 },
      slots: [
        [7, 50],
        [8, 50],
      ],
      asked: [7],
      found: 50,
    },
  ],
  [
    'and many by their block',
    {
      blocks: { 7: 2000, 8: 2000 },
      slots: [
        [7, 50],
        [8, 400],
      ],
      asked: [7, 8],
      found: 450,
    },
  ],
])('blocks: %s', async (_name, { blocks, slots, asked, found }) => {
  const provider = providerOf(blocks);
  const changes = await provider.read(slots.flatMap(([slot, count]) => ofSlot(slot, count)));
  expect([provider.asked, changes.size]).toEqual([asked, found]);
});

test('blocks: what is not in the block is not found', async () => {
  const { read } = providerOf({ 7: 5 }, ['7-2']);
  const changes = await read(ofSlot(7, 6));
  expect([changes.has('7-2'), changes.get('7-3')?.deltaOf('account')]).toEqual([false, 1n]);
});

test('blocks: after a refusal they are read again a minute later, after a large one ten minutes later', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(1000);
  try {
    const blocks: Record<number, Block> = { 7: 'refused', 8: 2000 };
    const { asked, read } = providerOf(blocks);
    for (const [at, slot] of [
      [0, 7],
      [59_000, 7],
      [60_000, 8],
      [659_000, 8],
      [660_000, 8],
    ] as const) {
      now.mockReturnValue(1000 + at);
      await read(ofSlot(slot, 5));
    }
    expect(asked).toEqual([7, 8, 8]);
  } finally {
    now.mockRestore();
  }
});

test('blocks: an error that is not of a provider is a bug', async () => {
  const read = createFinalizedBlocks({ finalizedBlock: () => Promise.reject(new TypeError('a bug')) });
  await expect(read(ofSlot(7, 5))).rejects.toThrow('a bug');
});
