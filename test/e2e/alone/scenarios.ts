import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { type Api, createApi, must } from '../../../deploy/local/seed/api.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { isBroken } from '../../../tools/reconcile/compare.ts';
import { placeOf, reconcile } from '../../../tools/reconcile.ts';
import { waitFor } from '../../support/base/wait.ts';
import { chainOf } from '../../support/servers/chain.ts';
import { setPace } from './stack.ts';

const HELD = 100_000_000n;
const FEE = 10_000n;
const SETTLED = ['quote.settled', 'quote.settling', 'settlement.finalized', 'settlement.issued'];
/** A vendor receives its quote's events too. */
const PAID = { vendor: SETTLED, payer: ['settlement.finalized', 'settlement.issued'] };
const FAILED = { vendor: ['quote.settling', 'settlement.failed'], payer: ['settlement.failed'] };

let running: RunningStack;
let api: Api;
let chain: ReturnType<typeof chainOf>;
/** These three take longest, and none hits the others. */
let [slow, failing, unreachable]: [Begun, Begun, Begun] = [] as never;

type Play = { vendor: Vendor; consumer: Consumer; quote: Quote; attempt: string };

/** A quote of the amount by a new vendor, and a new consumer, who pays it by one attempt. */
const play = async (amount: bigint): Promise<Play> => {
  const [vendor, consumer] = await Promise.all([
    createVendor(api, running.stack),
    createConsumer(api, running.stack, { balance: HELD }),
  ]);
  return {
    vendor,
    consumer,
    quote: await quoteOf(api, vendor, { quote_amount: `${amount}` }),
    attempt: `try-${amount}`,
  };
};
const settle = ({ consumer, quote, attempt }: Play) => settleWith(api, consumer.token, quote, attempt);
/** Repeats the call until its payment is not pending: on a slow machine one wait may be short. */
const outcomeOf = (played: Play) =>
  waitFor(
    () => settle(played),
    ({ status }) => status !== 202,
    60_000,
  );
type Begun = { played: Play; first: ReturnType<typeof settle> };
const begin = async (amount: bigint): Promise<Begun> => {
  const played = await play(amount);
  return { played, first: settle(played) };
};
type Shown = {
  settlement_id: string;
  status: string;
  chain_status: string;
  tx_hash: string | null;
  superseded_tx_hashes: string[];
  failure: { code: string; message: string } | null;
};
const settlementOf = async ({ consumer, attempt }: Play): Promise<Shown> => {
  const path = `GET /v1/settlements?payment_attempt_id=${attempt}` as const;
  const { data } = await must(api<{ data: Shown[] }>(path, { token: consumer.token }), 'settlements');
  return data[0]!;
};
const until = (played: Play, status: string) =>
  waitFor(
    () => settlementOf(played),
    ({ chain_status }) => chain_status === status,
    60_000,
    50,
  );
const eventsOf = async (token: string): Promise<string[]> => {
  const { data } = await must(
    api<{ data: { type: string }[] }>('GET /v1/events?limit=100', { token }),
    'events',
  );
  return data
    .map(({ type }) => type)
    .filter((type) => /^(quote|settlement)\./.test(type))
    .sort();
};
const expectEvents = async ({ vendor, consumer }: Play, expected: typeof PAID): Promise<void> => {
  const read = async () => ({
    vendor: await eventsOf(vendor.signIn.access_token),
    payer: await eventsOf(consumer.token),
  });
  const count = ({ vendor, payer }: typeof PAID) => vendor.length + payer.length;
  expect(await waitFor(read, (events) => count(events) >= count(expected), 10_000, 100)).toEqual(expected);
};
/** What the consumer has paid, and what the vendor has received. */
const movedBy = async ({ vendor, consumer }: Play) => [
  HELD - (await chain.balance(consumer.wallet.publicKey)),
  await chain.balance(vendor.payout.publicKey),
];
const all = (amount: bigint) => [amount, amount - FEE];
const NOTHING = [0n, 0n];

/**
 * Every scenario of docs/guides/test-environment.md through the public API, at the pace of `npm
 * start`: the first and the last answer, the money, and the events of both accounts.
 */
export const scenarios = (stack: () => RunningStack): void =>
  describe('scenarios', () => {
    beforeAll(async () => {
      running = stack();
      api = createApi(running.stack.gateway_url);
      chain = chainOf(running.stack.environments.test!);
      await setPace(running, 400);
      const begun = [begin(1_000_102n), begin(1_000_103n), begin(1_000_105n)] as const;
      [slow, failing, unreachable] = await Promise.all(begun);
    }, 120_000);

    test('1.000101 USDC: the balance is too small, nothing moves, and another quote can be paid', async () => {
      const played = await play(1_000_101n);
      const first = await settle(played);
      expect(first).toMatchObject({
        status: 402,
        body: { error: { code: 'insufficient_funds', money_moved: 'no', safe_action: 'top_up' } },
      });
      expect((await settle(played)).body.error?.code).toBe('insufficient_funds');
      expect(await settlementOf(played)).toMatchObject({
        status: 'failed',
        chain_status: 'failed',
        tx_hash: null,
        failure: { code: 'insufficient_funds' },
      });
      expect(await movedBy(played)).toEqual(NOTHING);
      await expectEvents(played, FAILED);
      const { vendor, consumer } = played;
      const other = await quoteOf(api, vendor, { quote_amount: '1000000' });
      expect((await settleWith(api, consumer.token, other)).status).toBe(200);
    });

    test('1.000102 USDC: the first answer is 202, and the repeat of the attempt is confirmed later', async () => {
      const { played } = slow;
      const first = await slow.first;
      expect(first).toMatchObject({ status: 202, body: { status: 'pending', tx_hash: expect.any(String) } });
      expect(await movedBy(played)).toEqual(NOTHING);
      const last = await outcomeOf(played);
      const { tx_hash, settlement_id } = first.body;
      expect(last).toMatchObject({ status: 200, body: { status: 'confirmed', tx_hash, settlement_id } });
      await until(played, 'finalized');
      expect(await movedBy(played)).toEqual(all(1_000_102n));
      await expectEvents(played, PAID);
    }, 90_000);

    test('1.000103 USDC: the transaction is in a block with an error, and nothing moves', async () => {
      const { played } = failing;
      const failed = { error: { code: 'payment_failed', money_moved: 'no', safe_action: 'new_quote' } };
      // The failure is certain when its block is final, about 13 s later. On a slow machine the
      // wait of the first call ends before.
      const first = await failing.first;
      if (first.status !== 202) expect(first).toMatchObject({ status: 409, body: failed });
      const shown = await until(played, 'failed');
      expect(shown).toMatchObject({ status: 'failed', failure: { code: 'payment_failed' } });
      expect(await settle(played)).toMatchObject({ status: 409, body: failed });
      expect(await movedBy(played)).toEqual(NOTHING);
      const [transaction] = await chain.history(played.consumer.wallet.publicKey);
      expect(transaction).toMatchObject({ err: { InstructionError: [expect.any(Number), { Custom: 17 }] } });
      await expectEvents(played, FAILED);
    }, 90_000);

    test('1.000105 USDC: the provider is not reached for 10 s, and the same call is confirmed then', async () => {
      const { played } = unreachable;
      const first = await unreachable.first;
      expect([200, 202]).toContain(first.status);
      const last = await outcomeOf(played);
      const { settlement_id } = first.body;
      expect(last).toMatchObject({ status: 200, body: { status: 'confirmed', settlement_id } });
      expect(await until(played, 'finalized')).toMatchObject({ superseded_tx_hashes: [] });
      expect(await movedBy(played)).toEqual(all(1_000_105n));
      await expectEvents(played, PAID);
    }, 90_000);

    test('1.000104 USDC: a fork removes the confirmed payment, which is included once more and paid once', async () => {
      const played = await play(1_000_104n);
      const first = await outcomeOf(played);
      expect(first).toMatchObject({ status: 200, body: { status: 'confirmed' } });
      expect(await until(played, 'pending')).toMatchObject({ status: 'issued' });
      const redeem = () =>
        api<{ status: string }>(`POST /v1/settlements/${first.body.settlement_id}/redeem`, {
          token: played.vendor.apiKey,
          body: { settlement_token: first.body.settlement_token },
        });
      const last = await until(played, 'finalized');
      expect(last).toMatchObject({ tx_hash: first.body.tx_hash, superseded_tx_hashes: [] });
      expect(await outcomeOf(played)).toMatchObject({ status: 200, body: { status: 'confirmed' } });
      expect(await redeem()).toMatchObject({ status: 200, body: { status: 'redeemed' } });
      expect(await movedBy(played)).toEqual(all(1_000_104n));
      const redeemed = (types: string[]) => [...types, 'settlement.redeemed'];
      await expectEvents(played, { vendor: redeemed(PAID.vendor), payer: redeemed(PAID.payer) });
    }, 90_000);

    test('after all scenarios the records match the chain', async () => {
      const { reports } = await reconcile(placeOf(running.stack, 'test'));
      expect(reports.filter(isBroken)).toEqual([]);
    });
  });
