import { expect, jest, test } from '@jest/globals';
import { createBlockhashes } from '../chain/blockhashes.ts';
import { RpcUnavailable } from '../chain/json-rpc.ts';
import type { Blockhash } from '../chain/rpc-pool.ts';
import { observeChain } from './observe-chain.ts';

const BLOCKHASH: Blockhash = {
  blockhash: '11111111111111111111111111111111',
  lastValidBlockHeight: 150,
  slot: 1,
};
const hangs = () => new Promise<Blockhash>(() => {});
const fails = () => Promise.reject(new RpcUnavailable('provider 1: closed'));

/** Whether the chain is readable so long after an answer, when the next read ends like this. */
const readableAfterAnswer = async (ms: number, read: () => Promise<Blockhash>): Promise<boolean> => {
  const reads = [async () => BLOCKHASH, read];
  const observe = observeChain({
    blockhashes: createBlockhashes({ latestBlockhash: () => reads.shift()!() }),
    ownBudgets: { settleFees: { refillsInSeconds: async () => null } } as never,
  });
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  try {
    expect((await observe({} as never)).readable).toBe(true);
    now.mockReturnValue(ms);
    return (await observe({} as never)).readable;
  } finally {
    now.mockRestore();
  }
};

test.each<[string, number, () => Promise<Blockhash>, boolean]>([
  ['a read that takes long, soon after an answer', 1000, hangs, true],
  ['a read that takes long, long after an answer', 6000, hangs, false],
  ['a read that fails, soon after an answer', 1000, fails, false],
])('%s', async (_, ms, read, readable) => {
  expect(await readableAfterAnswer(ms, read)).toBe(readable);
});
