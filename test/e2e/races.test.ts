import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApproveCheckedInstruction } from '@solana/spl-token';
import { Keypair, LAMPORTS_PER_SOL, Transaction } from '@solana/web3.js';
import pg from 'pg';
import { createApi, must } from '../../deploy/local/people/api.ts';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/people/people.ts';
import { signPrepared } from '../../deploy/local/people/wallet.ts';
import { chainOf } from '../support/chain.ts';
import { atOnce, runningStack, tally } from '../support/stack.ts';

/** Things of two hands that meet, 64 at a time: one of them wins, and the money agrees with what was answered. */
const RACERS = 64;
const PRICE = 1_000_000n;
const BALANCE = 100_000_000n;

const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const database = new pg.Pool({ connectionString: stack.postgres_url, max: 2 });
afterAll(() => database.end());

let vendor: Vendor;
beforeAll(async () => {
  vendor = await createVendor(api, stack, { price: PRICE });
});

/** Repeats the same attempt until it is known what became of it. */
const settleToTheEnd = async (buyer: Consumer, quote: Quote) => {
  const id = crypto.randomUUID();
  for (;;) {
    const answer = await settleWith(api, buyer.token, quote, id);
    if (answer.status !== 202 && answer.status !== 503) return answer;
  }
};

const outcome = ({ status, body }: Awaited<ReturnType<typeof settleToTheEnd>>) => body.error?.code ?? status;

/** What was answered 200 was paid, the rest moved nothing and holds nothing. */
const expectMoneyToAgree = async (
  buyer: Consumer,
  answers: readonly Awaited<ReturnType<typeof settleToTheEnd>>[],
) => {
  const paid = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(outcome)).toEqual(refused.map(() => 'delegation_inactive'));
  expect(refused.every(({ body }) => body.error?.money_moved === 'no')).toBe(true);
  expect(new Set(paid.map(({ body }) => body.tx_hash)).size).toBe(paid.length);
  expect(await chain.balance(buyer.wallet.publicKey)).toBe(BALANCE - PRICE * BigInt(paid.length));
  const { rows } = await database.query('select held from settlement.payers where wallet_id = $1', [
    buyer.walletId,
  ]);
  expect(rows).toEqual([{ held: '0' }]);
};

/** Starts 64 settles and lets the work meet them halfway: some are signed, some accepted, some not there yet. */
const settlesAgainst = async (buyer: Consumer, work: () => Promise<unknown>) => {
  const quotes = await atOnce(RACERS, () => quoteOf(api, vendor));
  // One before, so that the wallet's state is known and old.
  const first = await settleToTheEnd(buyer, await quoteOf(api, vendor));
  expect(first.status).toBe(200);
  const [answers] = await Promise.all([
    atOnce(RACERS, async (i) => {
      await sleep(i * 15);
      return settleToTheEnd(buyer, quotes[i]!);
    }),
    sleep(RACERS * 5).then(work),
  ]);
  return { first, answers };
};

test('redeem against the expiry job: each settlement has one winner, and it stays so', async () => {
  const buyer = await createConsumer(api, stack);
  const quotes = await atOnce(RACERS, () => quoteOf(api, vendor));
  const paid = await atOnce(RACERS, (i) => must(settleWith(api, buyer.token, quotes[i]!), 'settle'));
  const ids = paid.map(({ settlement_id }) => settlement_id);
  // Windows of 30 s and more cannot be waited for: they end now, spread over the time in which the redeems come.
  await database.query(
    `update settlement.settlements set redeem_expires_at = now() + random() * interval '3 seconds'
     where settlement_id = any($1)`,
    [ids],
  );
  const redeem = ({ settlement_id, settlement_token }: Paid) =>
    api<{ redeemed_at?: string }>(`POST /v1/settlements/${settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token },
    });
  const first = await atOnce(RACERS, async (i) => {
    await sleep(Math.random() * 3000);
    return redeem(paid[i]!);
  });
  expect(Object.keys(tally(first.map(({ status }) => status)))).toEqual(['200', '410']);

  await sleep(5000);
  const again = await atOnce(RACERS, (i) => redeem(paid[i]!));
  expect(again.map(({ status }) => status)).toEqual(first.map(({ status }) => status));
  expect(again.map(({ body }) => body.redeemed_at)).toEqual(first.map(({ body }) => body.redeemed_at));
  const { rows } = await database.query<{ settlement_id: string; status: string }>(
    'select settlement_id, status from settlement.settlements where settlement_id = any($1)',
    [ids],
  );
  const status = new Map(rows.map((row) => [row.settlement_id, row.status]));
  expect(ids.map((id) => status.get(id))).toEqual(
    first.map((answer) => (answer.status === 200 ? 'redeemed' : 'expired')),
  );
});

test('revoke against settles: what was in time is paid, the rest is 409 and moved nothing', async () => {
  const buyer = await createConsumer(api, stack, { balance: BALANCE });
  const path = `POST /v1/wallets/${buyer.walletId}/revoke` as const;
  const { first, answers } = await settlesAgainst(buyer, async () => {
    const prepared = await must(
      api<{ transaction: string }>(path, { token: buyer.token, body: {} }),
      'revoke',
    );
    const transaction = signPrepared(prepared.transaction, buyer.wallet);
    await must(api(path, { token: buyer.token, body: { transaction } }), 'revoke');
  });
  await expectMoneyToAgree(buyer, [first, ...answers]);
  const after = await settleToTheEnd(buyer, await quoteOf(api, vendor));
  expect(outcome(after)).toBe('delegation_inactive');
}, 60_000);

test('an approval overwritten on chain by its owner against settles: the same', async () => {
  const buyer = await createConsumer(api, stack, { balance: BALANCE });
  const { connection, mint } = chain;
  await connection.requestAirdrop(buyer.wallet.publicKey, LAMPORTS_PER_SOL);
  const { first, answers } = await settlesAgainst(buyer, async () => {
    const stranger = Keypair.generate().publicKey;
    const { blockhash } = await connection.getLatestBlockhash();
    const transaction = new Transaction({
      feePayer: buyer.wallet.publicKey,
      recentBlockhash: blockhash,
    });
    const account = chain.tokenAccount(buyer.wallet.publicKey);
    transaction
      .add(createApproveCheckedInstruction(account, mint, stranger, buyer.wallet.publicKey, 5n, 6))
      .sign(buyer.wallet);
    await connection.sendRawTransaction(transaction.serialize());
  });
  await expectMoneyToAgree(buyer, [first, ...answers]);
  const after = await settleToTheEnd(buyer, await quoteOf(api, vendor));
  expect(outcome(after)).toBe('delegation_inactive');
}, 60_000);
