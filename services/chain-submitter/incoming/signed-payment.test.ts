import { expect, jest, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  address,
  limit,
  memo,
  network,
  pay,
  price,
  wire,
} from '../../../test/support/fixtures/chain-submitter/incoming-messages.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { createSignedPayments } from './signed-payment.ts';

const owner = address(Keypair.generate());
const bytes = wire([
  limit(),
  price(),
  pay({ destination: tokenAccountOf(owner, network.mint) }),
  memo('offer-1'),
]);
const base64 = (wireBytes: Uint8Array): string => Buffer.from(wireBytes).toString('base64');
const input = { transaction: base64(bytes), legs: [{ owner, amount: '50000' }], memos: ['offer-1'] };

/** The buyer's signature is the second one. */
const forged = (): string => {
  const copy = Uint8Array.from(bytes);
  copy[1 + 64 + 5]! ^= 1;
  return base64(copy);
};

const reader = () => {
  let checks = 0;
  const tokenAccounts = {
    getState: async () => {
      checks += 1;
      return 'ready' as const;
    },
  };
  const { read } = createSignedPayments({
    ...{ pool: null as never, network, tokenAccounts, programs: new Set<string>() },
    ...{ lookupTables: null as never, outcomes: null as never },
  });
  return { read, checks: () => checks };
};

test('a payment is checked once in three seconds', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(10_000);
  try {
    const { read, checks } = reader();
    const first = await read(input);
    now.mockReturnValue(12_999);
    expect(await read(input)).toBe(first);
    expect(checks()).toBe(1);
    now.mockReturnValue(13_001);
    expect((await read(input)).messageHash).toBe(first.messageHash);
    expect(checks()).toBe(2);
  } finally {
    now.mockRestore();
  }
});

test.each<[string, Partial<typeof input>, string]>([
  ['another signature of the buyer', { transaction: forged() }, 'signature_invalid'],
  ['another amount', { legs: [{ owner, amount: '50001' }] }, 'amount_mismatch'],
  [
    'another payee',
    { legs: [{ owner: address(Keypair.generate()), amount: '50000' }] },
    'recipient_mismatch',
  ],
  ['another memo', { memos: ['offer-2'] }, 'memo_mismatch'],
])('what was checked counts for the same bytes and terms only: %s', async (_name, change, reason) => {
  const { read } = reader();
  await read(input);
  await expect(read({ ...input, ...change })).rejects.toMatchObject({ reason });
});

test('a refusal is not kept', async () => {
  const { read, checks } = reader();
  await expect(read({ ...input, memos: ['offer-2'] })).rejects.toMatchObject({ reason: 'memo_mismatch' });
  await read(input);
  expect(checks()).toBe(1);
});
