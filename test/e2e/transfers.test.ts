import { beforeAll, expect, test } from '@jest/globals';
import {
  createAssociatedTokenAccountInstruction,
  createCloseAccountInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { Keypair, LAMPORTS_PER_SOL, Transaction, type TransactionInstruction } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import {
  approveWithdrawal,
  createRefund,
  createWithdrawal,
  refund,
  submitRefund,
  withdraw,
} from '../../deploy/local/seed/transfers.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

/**
 * Withdrawals and refunds through the public API, over a real chain. The answers are compared with
 * the movements on the chain.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const NET = 2_487_500n;

let vendor: Vendor;
let consumer: Consumer;
beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});

const pay = async (by = consumer): Promise<Paid> =>
  must(settleWith(api, by.token, await quoteOf(api, vendor)), 'settle');
const redeem = ({ settlement_id, settlement_token }: Paid) =>
  api<{ error?: { code: string } }>(`POST /v1/settlements/${settlement_id}/redeem`, {
    token: vendor.apiKey,
    body: { settlement_token },
  });
/** A transaction that a user sends without the service. */
const include = async (by: Keypair, ...instructions: TransactionInstruction[]) => {
  const { connection } = chain;
  await connection.confirmTransaction(await connection.requestAirdrop(by.publicKey, LAMPORTS_PER_SOL));
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: by.publicKey, recentBlockhash: blockhash });
  transaction.add(...instructions).sign(by);
  await connection.confirmTransaction(await connection.sendRawTransaction(transaction.serialize()));
};

test('a withdrawal to a new wallet creates the token account and transfers the money; submitted 8 times, it is paid once', async () => {
  const to = Keypair.generate().publicKey;
  const before = await chain.balance(consumer.wallet.publicKey);
  const order = { amount: 3_000_000n, to: to.toBase58() };
  const created = await createWithdrawal(api, consumer.token, consumer.walletId, order);
  expect(created).toMatchObject({ status: 201, body: { status: 'pending_approval', amount: '3000000' } });
  const answers = await atOnce(8, () =>
    approveWithdrawal(api, consumer.token, created.body, consumer.wallet),
  );
  expect(tally(answers.map(({ status, body }) => `${status} ${body.tx_hash}`))).toEqual({
    [`200 ${answers[0]!.body.tx_hash}`]: 8,
  });
  expect(await chain.instructions(answers[0]!.body.tx_hash!)).toEqual([
    'spl-associated-token-account:createIdempotent',
    'spl-token:transferChecked',
  ]);
  expect(await chain.balance(to)).toBe(3_000_000n);
  expect(before - (await chain.balance(consumer.wallet.publicKey))).toBe(3_000_000n);
  const path = `GET /v1/withdrawals/${created.body.withdrawal_id}` as const;
  let seen = await must(api(path, { token: consumer.token }), 'get');
  for (let i = 0; i < 100 && seen.status !== 'finalized'; i += 1) {
    await new Promise((done) => setTimeout(done, 200));
    seen = await must(api(path, { token: consumer.token }), 'get');
  }
  expect(seen).toMatchObject({ status: 'finalized', tx_hash: answers[0]!.body.tx_hash });
});

test('a cancelled withdrawal answers 409 to its signed transaction, nothing has moved, and only a JWT may use it', async () => {
  const order = { amount: 1_000_000n, to: Keypair.generate().publicKey.toBase58() };
  const created = (await createWithdrawal(api, consumer.token, consumer.walletId, order)).body;
  const cancel = `POST /v1/withdrawals/${created.withdrawal_id}/cancel` as const;
  expect((await api(cancel, { token: vendor.apiKey })).status).toBe(403);
  expect((await api(cancel, { token: vendor.signIn.access_token })).status).toBe(404);
  expect(await api(cancel, { token: consumer.token })).toMatchObject({
    status: 200,
    body: { status: 'cancelled' },
  });
  const late = await approveWithdrawal(api, consumer.token, created, consumer.wallet);
  expect(late).toMatchObject({ status: 409, body: { error: { code: 'conflict', money_moved: 'no' } } });
  expect(await chain.balance(order.to)).toBe(0n);
});

test('a transfer that the owner broadcasts before the approval is paid once', async () => {
  const payee = await createConsumer(api, stack, { balance: 1n, allowance: 0n });
  await withdraw(api, payee, { amount: 1n, to: consumer.wallet.publicKey.toBase58() });
  const order = { amount: 1_000_000n, to: payee.wallet.publicKey.toBase58() };
  const created = (await createWithdrawal(api, consumer.token, consumer.walletId, order)).body;
  const copy = Transaction.from(Buffer.from(signPrepared(created.transaction!, consumer.wallet), 'base64'));
  await include(consumer.wallet, ...copy.instructions);
  const approved = await approveWithdrawal(api, consumer.token, created, consumer.wallet);
  expect(approved.status).toBe(200);
  expect(await chain.balance(payee.wallet.publicKey)).toBe(1_000_000n);
});

test('refunds in parts up to the net, signed by the payout address, block redeem once the full net is refunded', async () => {
  const paid = await pay();
  const before = await chain.balance(consumer.wallet.publicKey);
  const part = await refund(api, vendor, paid.settlement_id, 1_000_000n);
  expect(part).toMatchObject({ status: expect.stringMatching(/confirmed|finalized/), amount: '1000000' });
  expect((await createRefund(api, vendor.apiKey, paid.settlement_id, NET - 999_999n)).status).toBe(409);
  const rest = await refund(api, vendor, paid.settlement_id);
  expect(BigInt(rest.amount)).toBe(NET - 1_000_000n);
  expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(NET);
  expect(await redeem(paid)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  const own = await must(
    api<{ data: unknown[] }>(`GET /v1/refunds?settlement_id=${paid.settlement_id}`, {
      token: consumer.token,
    }),
    'list',
  );
  expect(own.data).toHaveLength(2);
});

test('a refund without the payout address’s signature is refused; after its cancel the net is free and redeem succeeds', async () => {
  const paid = await pay();
  const owner = vendor.signIn.access_token;
  const created = await must(createRefund(api, owner, paid.settlement_id), 'by the owner');
  expect(await redeem(paid)).toMatchObject({ status: 409 });
  // Submitted as it was prepared, without a signature.
  const unsigned = api(`POST /v1/refunds/${created.refund_id}/submit`, {
    token: vendor.apiKey,
    body: { transaction: created.transaction },
  });
  expect(await unsigned).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } });
  const path = `POST /v1/refunds/${created.refund_id}/cancel` as const;
  expect((await api(path, { token: consumer.token })).status).toBe(404);
  expect((await api(path, { token: vendor.apiKey })).status).toBe(200);
  expect((await submitRefund(api, vendor, created)).status).toBe(409);
  expect(await redeem(paid)).toMatchObject({ status: 200 });
});

test('the payer’s closed token account is created again by a refund, within the quota of the payer', async () => {
  const vendors = await createVendor(api, stack);
  // Its owner has paid for this account, so the platform has not paid yet.
  const wallet = Keypair.generate();
  const own = chain.tokenAccount(wallet.publicKey);
  await include(
    wallet,
    createAssociatedTokenAccountInstruction(wallet.publicKey, own, wallet.publicKey, chain.mint),
  );
  const buyer = await createConsumer(api, stack, { wallet, balance: 2_500_000n });
  const quote = await quoteOf(api, vendors);
  const paid = await must(settleWith(api, buyer.token, quote), 'settle');
  const { publicKey } = buyer.wallet;
  const account = chain.tokenAccount(publicKey);
  const left = await chain.balance(publicKey);
  await include(
    buyer.wallet,
    ...(left > 0n
      ? [createTransferInstruction(account, chain.tokenAccount(vendors.payout.publicKey), publicKey, left)]
      : []),
    createCloseAccountInstruction(account, publicKey, publicKey),
  );
  const given = await refund(api, vendors, paid.settlement_id);
  expect(await chain.instructions(given.tx_hash!)).toEqual([
    'spl-associated-token-account:createIdempotent',
    'spl-token:transferChecked',
  ]);
  expect(await chain.balance(publicKey)).toBe(NET);
});

test('64 concurrent refunds of a net that suffices for 8: 8 are prepared and paid, never more than the net', async () => {
  const vendors = await createVendor(api, stack);
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendors)), 'settle');
  const before = await chain.balance(consumer.wallet.publicKey);
  const created = await atOnce(64, () => createRefund(api, vendors.apiKey, paid.settlement_id, NET / 8n));
  expect(tally(created.map(({ status }) => status))).toEqual({ 201: 8, 409: 56 });
  const made = created.filter(({ status }) => status === 201);
  const given = await Promise.all(made.map(({ body }) => submitRefund(api, vendors, body)));
  expect(new Set(given.map(({ body }) => body.tx_hash)).size).toBe(8);
  expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(8n * (NET / 8n));
  expect((await createRefund(api, vendors.apiKey, paid.settlement_id, NET % 8n)).status).toBe(
    NET % 8n > 0n ? 201 : 400,
  );
});
