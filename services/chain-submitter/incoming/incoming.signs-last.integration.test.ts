import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { connectPool } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor, waitFor } from '../../../test/support/base/wait.ts';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
  txHashOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf } from '../../../test/support/fixtures/chain-submitter/transfers.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';
import { deleteUnsent } from '../ledger/store/unsent.ts';

/**
 * Payments whose buyer signs last and sends the transaction itself, as wallets of Solana Pay do
 * (docs/adr/0080). Whoever asks for one may name any account.
 */
let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
});
beforeEach(async () => {
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { ask, asked, signed, check, submit, countSigned } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
type Asked = Awaited<ReturnType<typeof asked>>;
/** The fee of the payment with two signatures, and that of a refund. */
const RESERVED_LAMPORTS = 20_001n;
const balanceOf = ({ owner }: Payer) => fixture.outside.balance(owner.publicKey);

/** The transaction that a buyer gets, with our signature. */
const handedOut = async (payment: Asked, settlementId: string): Promise<string> => {
  const answer = await submit(payment, settlementId);
  if (answer.outcome === 'refused') throw new Error(`${answer.reason}: ${answer.message}`);
  expect(answer.transaction).toBeDefined();
  return answer.transaction!;
};
/** As a wallet signs it. It does not change a transaction that has a signature. */
const completed = (transaction: string, owner: Keypair): Transaction => {
  const own = Transaction.from(Buffer.from(transaction, 'base64'));
  own.partialSign(owner);
  return own;
};
const send = (transaction: Transaction, skipPreflight = true): Promise<string> =>
  fixture.chain.call(
    'sendTransaction',
    transaction.serialize({ verifySignatures: false }).toString('base64'),
    { encoding: 'base64', skipPreflight },
  );
const reserved = async (scope: string): Promise<bigint> => {
  const { rows } = await fixture.admin.query('select reserved from spending where scope = $1', [scope]);
  return BigInt(rows[0]?.reserved ?? 0);
};
const emptied = async ({ owner }: Payer): Promise<void> => {
  const { mint, tokenAccount } = fixture.outside;
  const [from, to] = [owner.publicKey, vendor.owner.publicKey].map((key) => tokenAccount(key));
  const left = await fixture.outside.balance(owner.publicKey);
  const moving = createTransferCheckedInstruction(from!, mint, to!, owner.publicKey, left, 6);
  await fixture.include([moving], [keypairOf(fixture.keys.mintAuthority.secretKey), owner]);
};

describe('while the service runs', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await fixture.start();
  });
  afterAll(() => service.stop());

  test('the buyer signs what has our signature, sends it, and it is confirmed and final', async () => {
    const buyer = await fixture.payer(PRICE);
    const settlementId = newId('stl');
    const payment = await asked(buyer);
    expect(reasonOf(await check(payment))).toBe('accepted');
    const transaction = await handedOut(payment, settlementId);
    const own = Transaction.from(Buffer.from(transaction, 'base64'));
    const feePayer = new PublicKey(fixture.keys.feePayer.address);
    expect(own.feePayer).toEqual(feePayer);
    const named = own.instructions.flatMap(({ keys }) => keys.map(({ pubkey }) => pubkey.toBase58()));
    expect(named).not.toContain(feePayer.toBase58());
    const tx_hash = bs58.encode(own.signature!);
    expect(await countSigned(settlementId)).toBe(1);

    const paid = await balanceOf(vendor);
    expect(await send(completed(transaction, buyer.owner), false)).toBe(tx_hash);
    expect(await fixture.events.wait(settlementId, 'finalized')).toMatchObject({ tx_hash, generation: 1 });
    expect([await balanceOf(buyer), (await balanceOf(vendor)) - paid]).toEqual([0n, PRICE]);
  });

  test('a repeat gets the same transaction, and another amount cannot carry our signature', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const settlementId = newId('stl');
    const payment = await asked(buyer);
    const answers = await Promise.all([1, 2, 3].map(() => handedOut(payment, settlementId)));
    expect(new Set(answers).size).toBe(1);
    expect(await countSigned(settlementId)).toBe(1);

    const changed = Transaction.from(Buffer.from(answers[0]!, 'base64'));
    const ours = changed.signature!;
    const transfer = changed.instructions.find(({ keys }) => keys.length > 0)!;
    transfer.data.writeBigUInt64LE(PRICE - 1n, 1);
    changed.partialSign(buyer.owner);
    changed.addSignature(changed.feePayer!, ours);
    await expect(send(changed, false)).rejects.toThrow('signature verification');
    await send(completed(answers[0]!, buyer.owner));
    await fixture.events.wait(settlementId, 'confirmed');
    expect(await balanceOf(buyer)).toBe(PRICE);
  });

  test('who signs, and when, is part of what is asked for', async () => {
    const buyer = await fixture.payer(PRICE);
    const { signs_last: _, ...unsigned } = await asked(buyer);
    expect(reasonOf(await submit(unsigned))).toBe('signature_invalid');
    expect(reasonOf(await submit({ ...(await signed(buyer)), signs_last: true }))).toBe('signature_invalid');
  });

  test('one that nobody signs is not sent, holds nothing of the account, and gives all back', async () => {
    const stranger = await fixture.payer(PRICE);
    const ids = [1, 2, 3].map(() => newId('stl'));
    const scopes = [
      'incoming_last',
      `incoming_last_account/${vendor.account_id}`,
      'fees_incoming',
      `fees_incoming/vendor/${vendor.account_id}`,
    ];
    const transactions: string[] = [];
    for (const id of ids) transactions.push(await handedOut(await asked(stranger), id));
    // Of three, each may fail on chain at our cost.
    expect(reasonOf(await submit(await asked(stranger)))).toBe('source_blocked');
    // The account pays meanwhile as if nobody had asked.
    const own = newId('stl');
    txHashOf(await submit(await signed(stranger), own));
    await fixture.events.wait(own, 'confirmed');
    expect(await balanceOf(stranger)).toBe(0n);
    await staysFor(
      500,
      () => fixture.events.names(ids[0]!),
      (names) => names.length <= 1,
    );

    const held = await Promise.all(scopes.map(reserved));
    await fixture.chain.call('chain_advance', 220);
    for (const id of ids)
      expect(await fixture.events.wait(id, 'failed')).toMatchObject({ slot: null, generation: 1 });
    // A process may have reserved more ahead, which it keeps.
    const left = await Promise.all(scopes.map(reserved));
    const [micro, lamports] = [3n * PRICE, 3n * RESERVED_LAMPORTS];
    expect(left.map((each, index) => held[index]! - each)).toEqual([micro, micro, lamports, lamports]);
    // Too late: the chain does not know the blockhash any more.
    await expect(send(completed(transactions[0]!, stranger.owner), false)).rejects.toThrow(
      'Blockhash not found',
    );
  });

  test('each that fails on chain counts for the account, and three refuse it', async () => {
    const buyer = await fixture.payer(PRICE);
    const ids = [1, 2, 3].map(() => newId('stl'));
    const transactions: string[] = [];
    for (const id of ids) transactions.push(await handedOut(await asked(buyer), id));
    await emptied(buyer);
    for (const transaction of transactions) await send(completed(transaction, buyer.owner));
    for (const id of ids)
      expect(await fixture.events.wait(id, 'failed')).toMatchObject({ slot: expect.any(Number) });
    const { mint, tokenAccount } = fixture.outside;
    const rich = await fixture.payer(PRICE);
    const [from, to] = [rich, buyer].map(({ owner }) => tokenAccount(owner.publicKey));
    const back = createTransferCheckedInstruction(from!, mint, to!, rich.owner.publicKey, PRICE, 6);
    await fixture.include([back], [keypairOf(fixture.keys.mintAuthority.secretKey), rich.owner]);
    expect(reasonOf(await submit(await asked(buyer)))).toBe('source_blocked');
    expect(reasonOf(await submit(await signed(buyer)))).toBe('source_blocked');
  });

  test.each<[string, (poor: Payer) => string, string]>([
    ['a balance that is too small', ({ owner }) => owner.publicKey.toBase58(), 'insufficient_funds'],
    [
      'a token account',
      ({ owner }) => fixture.outside.tokenAccount(owner.publicKey).toBase58(),
      'validation_error',
    ],
    ['a program', () => '11111111111111111111111111111111', 'validation_error'],
    ['our fee payer', () => fixture.keys.feePayer.address, 'validation_error'],
    ['an account without USDC', () => Keypair.generate().publicKey.toBase58(), 'insufficient_funds'],
  ])('nothing is built for %s', async (_name, payerOf, code) => {
    const poor = await fixture.payer(PRICE - 1n);
    const payee = vendor.owner.publicKey.toBase58();
    const built = ask('buildIncoming', { payer: payerOf(poor), payee, amount: `${PRICE}`, memo: 'm' });
    expect(await codeOf(built)).toBe(code);
  });

  test('nothing is built by which an account pays itself', async () => {
    const buyer = await fixture.payer(PRICE);
    const payer = buyer.owner.publicKey.toBase58();
    const built = ask('buildIncoming', { payer, payee: payer, amount: `${PRICE}`, memo: 'm' });
    expect(await codeOf(built)).toBe('validation_error');
  });

  test('64 buyers at once all pay', async () => {
    const buyers: Payer[] = [];
    for (let count = 0; count < 64; count += 1) buyers.push(await fixture.payer(PRICE));
    const before = await balanceOf(vendor);
    // No block passes while a busy machine needs its time.
    await fixture.chain.call('chain_clock', { paused: true });
    const ids = await Promise.all(
      buyers.map(async (buyer) => {
        const id = newId('stl');
        await send(completed(await handedOut(await asked(buyer), id), buyer.owner));
        return id;
      }),
    );
    await fixture.chain.call('chain_clock', { paused: false, onDemand: true });
    for (const id of ids) await fixture.events.wait(id, 'confirmed');
    expect((await balanceOf(vendor)) - before).toBe(64n * PRICE);
  });
});

test('what nobody has signed is deleted after a day, and what failed on chain is kept', async () => {
  const add = (id: string, { slot, age }: { slot: number | null; age: string }) =>
    fixture.admin.query(
      `with failed as (
         insert into intents (intent_id, kind, object_id, request, status, generation, signature, slot,
           failure_code, failure_message, next_at, created_at)
         values ($1, 'incoming', $1, '{"signs_last": true}', 'failed', 1, $1, $2, 'payment_failed', 'x', app_now(),
           app_now() - $3::interval)
         returning intent_id
       )
       insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, status)
       select intent_id, intent_id, 1, '', 1, 'expired' from failed`,
      [id, slot, age],
    );
  await add('unsent-old', { slot: null, age: '25 hours' });
  await add('unsent-new', { slot: null, age: '23 hours' });
  await add('failed-old', { slot: 7, age: '25 hours' });
  const pool = await connectPool(fixture.database.url('chain-submitter'), { max: 1 });
  await deleteUnsent(pool);
  await pool.end();
  const ids = ['unsent-old', 'unsent-new', 'failed-old'];
  const { rows } = await fixture.admin.query<{ intent_id: string }>(
    'select intent_id from intents join transactions using (intent_id) where intent_id = any($1) order by 1',
    [ids],
  );
  expect(rows.map(({ intent_id }) => intent_id)).toEqual(['failed-old', 'unsent-new']);
});

test('rule 8: after a kill between signature and answer the repeat hands out the same transaction', async () => {
  const buyer = await fixture.payer(PRICE);
  const settlementId = newId('stl');
  const dying = await fixture.start({}, 'submitter.afterCommit=crash');
  const payment = await asked(buyer);
  void submit(payment, settlementId).catch(() => {});
  await dying.exited;
  const { rows } = await fixture.admin.query<{ wire: Buffer }>(
    'select wire from transactions join intents using (intent_id) where object_id = $1',
    [settlementId],
  );
  const next = await fixture.start();
  const transaction = await handedOut(payment, settlementId);
  expect(transaction).toBe(rows[0]!.wire.toString('base64'));
  await send(completed(transaction, buyer.owner));
  await fixture.events.wait(settlementId, 'finalized');
  expect(await countSigned(settlementId)).toBe(1);
  await waitFor(
    () => balanceOf(buyer),
    (balance) => balance === 0n,
  );
  await next.stop();
});
