import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createApproveInstruction,
  createCloseAccountInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import type { z } from 'zod';
import { call } from '../../shared/bus/call.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { newId } from '../../shared/lib/id.ts';
import {
  type Change,
  guard,
  instructionsOf,
  signChanged,
  withAccount,
  withData,
} from '../../test/support/prepared.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../test/support/submitter.ts';

type Internal = typeof chainSubmitter.internal;
type Input = z.infer<Internal['prepareTransfer']['input']>;

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
}, 60_000);
afterAll(() => fixture.stop());

const ask = <N extends keyof Internal>(name: N, input: z.infer<Internal[N]['input']>) =>
  call(fixture.fundingBus, chainSubmitter, name, input) as Promise<z.infer<Internal[N]['output']>>;
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const someone = () => Keypair.generate().publicKey;

type Prepared = { id: string; transaction: string; owner: Keypair };
/** A prepared withdrawal, or refund, of a payer's. */
const prepare = async (
  { owner, account_id }: Payer,
  destination: PublicKey | string,
  amount: bigint,
  rest: Partial<Input> = {},
): Promise<Prepared> => {
  const id = rest.object_id ?? newId('wd');
  const { transaction } = await ask('prepareTransfer', {
    transfer: 'withdrawal',
    object_id: id,
    settlement_id: null,
    account_id,
    owner: owner.publicKey.toBase58(),
    destination: destination.toString(),
    amount: `${amount}`,
    accepted_at: new Date().toISOString(),
    ...rest,
  });
  return { id, transaction, owner };
};
const submit = ({ id, transaction, owner }: Prepared, change?: Change) =>
  ask('submitPrepared', { preparation_id: id, transaction: signChanged(transaction, owner, change) });
const cancel = ({ id }: Pick<Prepared, 'id'>) =>
  ask('cancelPrepared', { transfer: 'withdrawal', object_id: id });
const minter = () => keypairOf(fixture.keys.mintAuthority.secretKey);
const lamports = async (address: string) =>
  (await fixture.chain.call<{ value: number }>('getBalance', address, { commitment: 'confirmed' })).value;

test('a withdrawal: prepared with empty slots, signed by its owner, paid once, whoever submits it how often', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const prepared = await prepare(payer, to, 2_000_000n);
  const wire = Buffer.from(prepared.transaction, 'base64');
  expect(wire.subarray(1, 1 + 128).every((byte) => byte === 0)).toBe(true);
  expect(await ask('observePrepared', { transfer: 'withdrawal', object_id: prepared.id })).toBeNull();

  const answers = await Promise.all(Array.from({ length: 8 }, () => submit(prepared)));
  expect(new Set(answers.map(({ tx_hash }) => tx_hash)).size).toBe(1);
  const final = await fixture.facts.wait(prepared.id, 'finalized');
  expect(final.tx_hash).toBe(answers[0]!.tx_hash);
  expect(new Set(fixture.facts.names(prepared.id))).toEqual(new Set(['withdrawalProgressed']));
  expect(await submit(prepared)).toEqual(answers[0]);
  expect(await fixture.outside.balance(to)).toBe(2_000_000n);
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(3_000_000n);
  expect(await ask('observePrepared', { transfer: 'withdrawal', object_id: prepared.id })).toMatchObject({
    status: 'finalized',
    tx_hash: final.tx_hash,
  });
});

test('to a token account of the mint that is named itself', async () => {
  const [payer, payee] = await Promise.all([fixture.payer(5_000_000n), fixture.payer(1n)]);
  const account = fixture.outside.tokenAccount(payee.owner.publicKey);
  const prepared = await prepare(payer, account, 2_000_000n);
  expect(instructionsOf(prepared.transaction)).toHaveLength(1);
  await submit(prepared);
  await fixture.facts.wait(prepared.id, 'confirmed');
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
});

test.each<[string, (payer: Payer) => PublicKey | string]>([
  ['the wallet itself', ({ owner }) => owner.publicKey],
  ['its own token account', ({ owner }) => fixture.outside.tokenAccount(owner.publicKey)],
  ['the fee wallet', () => fixture.keys.feeWallet.address],
  ['the fee account', () => fixture.outside.tokenAccount(fixture.keys.feeWallet.address)],
  ['the fee payer', () => fixture.keys.feePayer.address],
  ['a delegate authority', () => fixture.authority],
  ['the mint authority', () => fixture.keys.mintAuthority.address],
  ['the mint', () => fixture.keys.mint.address],
  ['a sysvar', () => 'SysvarC1ock11111111111111111111111111111111'],
  ['the token program', () => 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
  ['the System program', () => SystemProgram.programId],
  ['an owner off the curve', () => PublicKey.findProgramAddressSync([Buffer.from('v')], someone())[0]],
  ['text that is no address', () => '1'.repeat(40)],
])('a destination that is refused: %s', async (_name, of) => {
  const payer = await fixture.payer(5_000_000n);
  expect(await codeOf(prepare(payer, of(payer), 1n))).toBe('validation_error');
});

const stranger = Keypair.generate();
const last = (list: TransactionInstruction[]) => list.at(-1)!;
const but = (change: (transfer: TransactionInstruction) => TransactionInstruction) => ({
  instructions: (list: TransactionInstruction[]) => [...list.slice(0, -1), change(last(list))],
});
const plus = (...more: TransactionInstruction[]) => ({
  instructions: (list: TransactionInstruction[]) => [...list, ...more],
});
const key = (pubkey: PublicKey, rights: { isSigner?: boolean; isWritable?: boolean } = {}) => ({
  pubkey,
  isSigner: false,
  isWritable: false,
  ...rights,
});

/** Everything that a client may have done to the bytes before they come back (security.md, Signed transactions). */
const ALTERED: [string, (prepared: Prepared) => Change][] = [
  ['another destination', () => but((transfer) => withAccount(transfer, 2, stranger.publicKey))],
  ['another source', () => but((transfer) => withAccount(transfer, 0, stranger.publicKey))],
  ['another mint', () => but((transfer) => withAccount(transfer, 1, stranger.publicKey))],
  ['another amount', () => but((transfer) => withData(transfer, (data) => data.writeUInt8(7, 1)))],
  ['other decimals', () => but((transfer) => withData(transfer, (data) => data.writeUInt8(9, 9)))],
  [
    'another program',
    () => but((transfer) => new TransactionInstruction({ ...transfer, programId: stranger.publicKey })),
  ],
  ['another order', () => ({ instructions: (list) => list.toReversed() })],
  ['the creation left out', () => ({ instructions: (list) => list.slice(1) })],
  ['the transfer left out', () => ({ instructions: (list) => list.slice(0, 1) })],
  ['the transfer twice', () => ({ instructions: (list) => [...list, last(list)] })],
  [
    'no reference',
    () => but((transfer) => new TransactionInstruction({ ...transfer, keys: transfer.keys.slice(0, 4) })),
  ],
  [
    'lamports of the fee payer',
    () => {
      const fromPubkey = new PublicKey(fixture.keys.feePayer.address);
      return plus(SystemProgram.transfer({ fromPubkey, toPubkey: stranger.publicKey, lamports: 1 }));
    },
  ],
  [
    'an approval besides',
    ({ owner }) =>
      plus(
        createApproveInstruction(
          fixture.outside.tokenAccount(owner.publicKey),
          stranger.publicKey,
          owner.publicKey,
          1n,
        ),
      ),
  ],
  ['another fee payer', ({ owner }) => ({ feePayer: owner.publicKey })],
  ['another blockhash', () => ({ blockhash: stranger.publicKey.toBase58() })],
  ['an extra signer', () => ({ ...plus(guard({ key: stranger.publicKey, signer: true })), also: stranger })],
  ['an extra writable account', () => plus(guard({ key: stranger.publicKey, writable: true }))],
  ['the mint made writable', () => plus(guard({ key: fixture.outside.mint, writable: true }))],
  ['7 guards', () => plus(...Array.from({ length: 7 }, () => guard({ key: stranger.publicKey })))],
  [
    'a guard that names the fee payer',
    () => plus(guard({ key: new PublicKey(fixture.keys.feePayer.address) })),
  ],
  [
    'a memo',
    () =>
      plus(
        new TransactionInstruction({
          programId: new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
          keys: [key(stranger.publicKey)],
          data: Buffer.from('hello'),
        }),
      ),
  ],
];

test('what a client has changed is refused, nothing is signed for it, and what was prepared still counts', async () => {
  const payer = await fixture.payer(5_000_000n);
  const prepared = await prepare(payer, someone(), 2_000_000n);
  expect(instructionsOf(prepared.transaction)).toHaveLength(2);
  const before = await lamports(fixture.keys.feePayer.address);
  const verdicts: string[][] = [];
  for (const [name, change] of ALTERED)
    verdicts.push([name, await codeOf(submit(prepared, change(prepared)))]);
  verdicts.push(['signed by another', await codeOf(submit({ ...prepared, owner: Keypair.generate() }))]);
  expect(verdicts).toEqual(verdicts.map(([name]) => [name, 'validation_error']));
  expect(fixture.facts.of(prepared.id)).toEqual([]);
  expect(await lamports(fixture.keys.feePayer.address)).toBe(before);
  expect(await codeOf(submit(prepared))).toBe('ok');
  await fixture.facts.wait(prepared.id, 'confirmed');
});

test('a guard is simulated before anything is signed: one that the chain cannot run costs nothing', async () => {
  const payer = await fixture.payer(5_000_000n);
  const prepared = await prepare(payer, someone(), 2_000_000n);
  // The local chain has no such program, as a chain whose Lighthouse says no.
  const guarded = submit(prepared, plus(guard({ key: payer.owner.publicKey })));
  expect(await codeOf(guarded)).not.toMatch(/ok|validation_error/);
  expect(fixture.facts.of(prepared.id)).toEqual([]);
  expect(await codeOf(submit(prepared))).toBe('ok');
});

test('prepared afresh: only the newest bytes count, and what has expired can be prepared again', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const old = await prepare(payer, to, 1_000_000n);
  await until(
    () => fixture.chain.call<number>('chain_advance', 1),
    () => true,
  );
  const stale = await prepare(payer, to, 1_000_000n, { object_id: old.id });
  expect(await codeOf(submit(old))).toBe('validation_error');
  await fixture.chain.call('chain_advance', 160);
  expect(await codeOf(submit(stale))).toBe('conflict');
  const fresh = await prepare(payer, to, 1_000_000n, { object_id: old.id });
  expect(await codeOf(submit(fresh))).toBe('ok');
  await fixture.facts.wait(old.id, 'confirmed');
  expect(await codeOf(prepare(payer, to, 1_000_000n, { object_id: old.id }))).toBe('conflict');
});

test('cancelled is final: neither submitted nor prepared again; a cancel that comes too late says how far it is', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const prepared = await prepare(payer, to, 1_000_000n);
  expect([await cancel(prepared), await cancel(prepared)]).toEqual([null, null]);
  expect(await codeOf(submit(prepared))).toBe('conflict');
  expect(await codeOf(prepare(payer, to, 1_000_000n, { object_id: prepared.id }))).toBe('conflict');
  expect(fixture.facts.of(prepared.id)).toEqual([]);

  const other = await prepare(payer, to, 1_000_000n);
  const { tx_hash } = await submit(other);
  expect(await cancel(other)).toMatchObject({ object_id: other.id, tx_hash });
  await fixture.facts.wait(other.id, 'finalized');
});

test('cancel against submit, 24 times: one of them wins, and the money agrees', async () => {
  const payer = await fixture.payer(24_000_000n);
  const payee = await fixture.payer(1n);
  const all = await Promise.all(
    Array.from({ length: 24 }, () => prepare(payer, payee.owner.publicKey, 1_000_000n)),
  );
  const ends = await Promise.all(
    all.map(async (prepared, index) => {
      const [cancelled, submitted] = await Promise.all(
        index % 2 === 0
          ? [cancel(prepared), codeOf(submit(prepared))]
          : [
              submit(prepared)
                .then(
                  () => 0,
                  () => 0,
                )
                .then(() => cancel(prepared)),
              codeOf(submit(prepared)),
            ],
      );
      expect(submitted).toBe(cancelled === null ? 'conflict' : 'ok');
      return submitted;
    }),
  );
  const paid = all.filter((_, index) => ends[index] === 'ok');
  await Promise.all(paid.map(({ id }) => fixture.facts.wait(id, 'confirmed')));
  expect(paid.length).toBeGreaterThanOrEqual(12);
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(1n + 1_000_000n * BigInt(paid.length));
});

test('rule 12: the owner broadcasts a copy at their own cost: it is taken over, and nothing is paid twice', async () => {
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const own = await fixture.land(instructionsOf(prepared.transaction), [minter(), payer.owner]);
  expect(await submit(prepared)).toEqual({ tx_hash: own });
  expect((await fixture.facts.wait(prepared.id, 'finalized')).tx_hash).toBe(own);
  expect(await submit(prepared)).toEqual({ tx_hash: own });
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
});

test('a transaction of somebody’s under the reference that did not move the money is none', async () => {
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const transfer = last(instructionsOf(prepared.transaction));
  await fixture.land([withData(transfer, (data) => data.writeBigUInt64LE(1n, 1))], [minter(), payer.owner]);
  await submit(prepared);
  await fixture.facts.wait(prepared.id, 'confirmed');
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_002n);
});

test('a database that was set back pays nothing twice', async () => {
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const { tx_hash } = await submit(prepared);
  await fixture.facts.wait(prepared.id, 'finalized');
  const intentId = `withdrawal:${prepared.id}`;
  await fixture.admin.query('delete from transactions where intent_id = $1', [intentId]);
  await fixture.admin.query('delete from intents where intent_id = $1', [intentId]);
  await fixture.admin.query('delete from preparations where preparation_id = $1', [prepared.id]);
  const again = await prepare(payer, payee.owner.publicKey, 2_000_000n, { object_id: prepared.id });
  expect(await submit(again)).toEqual({ tx_hash });
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
});

test('a balance that is too small is told before anybody signs, and costs nothing when it shrinks after', async () => {
  const payer = await fixture.payer(2_000_000n);
  const payee = await fixture.payer(1n);
  expect(await codeOf(prepare(payer, payee.owner.publicKey, 2_000_001n))).toBe('insufficient_funds');
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const account = (owner: PublicKey) => fixture.outside.tokenAccount(owner);
  await fixture.land(
    [
      createTransferInstruction(
        account(payer.owner.publicKey),
        account(payee.owner.publicKey),
        payer.owner.publicKey,
        1n,
      ),
    ],
    [minter(), payer.owner],
  );
  const before = await lamports(fixture.keys.feePayer.address);
  expect(await codeOf(submit(prepared))).toBe('insufficient_funds');
  expect(fixture.facts.of(prepared.id)).toEqual([]);
  expect(await lamports(fixture.keys.feePayer.address)).toBe(before);
});

test('the platform pays for three token accounts at most, and for none a second time', async () => {
  const payer = await fixture.payer(10_000_000n);
  const payees = Array.from({ length: 4 }, () => Keypair.generate());
  const verdicts: string[] = [];
  for (const { publicKey } of payees) {
    const prepared = await prepare(payer, publicKey, 1_000_000n).catch((error) => error);
    verdicts.push(prepared instanceof ServiceError ? prepared.code : await codeOf(submit(prepared)));
    if (!(prepared instanceof ServiceError)) await fixture.facts.wait(prepared.id, 'confirmed');
  }
  expect(verdicts).toEqual(['ok', 'ok', 'ok', 'conflict']);
  // Emptied and closed for its rent, then asked for again.
  const [first] = payees as [Keypair];
  const [from, to] = [first.publicKey, payer.owner.publicKey].map((owner) =>
    fixture.outside.tokenAccount(owner),
  );
  await fixture.land(
    [
      createTransferInstruction(from!, to!, first.publicKey, 1_000_000n),
      createCloseAccountInstruction(from!, first.publicKey, first.publicKey),
    ],
    [minter(), first],
  );
  expect(await codeOf(prepare(payer, first.publicKey, 1_000_000n))).toBe('conflict');
});

const refundOf = (settlement_id: string | null = newId('stl')) => ({
  transfer: 'refund' as const,
  object_id: newId('ref'),
  settlement_id,
});

test('refunds: two equal ones of a settlement are two transfers, and the payer’s closed account is made again', async () => {
  const vendor = await fixture.payer(5_000_000n);
  const consumer = someone();
  const settlementId = newId('stl');
  const one = await prepare(vendor, consumer, 1_000_000n, refundOf(settlementId));
  const two = await prepare(vendor, consumer, 1_000_000n, refundOf(settlementId));
  const [first, second] = await Promise.all([submit(one), submit(two)]);
  expect(first.tx_hash).not.toBe(second.tx_hash);
  await Promise.all([one, two].map(({ id }) => fixture.facts.wait(id, 'finalized')));
  expect(fixture.facts.names(one.id)[0]).toBe('refundProgressed');
  expect(await fixture.outside.balance(consumer)).toBe(2_000_000n);
});

test('a refund out of a vault without a key is signed elsewhere', async () => {
  const payer = await fixture.payer(1n);
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from('vault')], someone());
  const asked = prepare(payer, someone(), 1n, { ...refundOf(), owner: vault.toBase58() });
  expect(await codeOf(asked)).toBe('conflict');
});

test('the operator’s pause holds for what users signed too', async () => {
  const payer = await fixture.payer(5_000_000n);
  const prepared = await prepare(payer, someone(), 1_000_000n);
  await fixture.admin.query('update settings set paused = true');
  const paused = await codeOf(submit(prepared));
  await fixture.admin.query('update settings set paused = false');
  expect([paused, await codeOf(submit(prepared))]).toEqual(['service_unavailable', 'ok']);
});

test('co-signed and dropped until it expired: failed, and never signed again', async () => {
  const { chain, facts, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  try {
    await submit(prepared);
    await chain.call('chain_advance', 200);
    const { failure } = await facts.wait(prepared.id, 'failed');
    expect(failure?.code).toBe('payment_failed');
  } finally {
    await chain.call('chain_fault');
  }
  const again = prepare(payer, payee.owner.publicKey, 2_000_000n, { object_id: prepared.id });
  expect(await codeOf(again)).toBe('conflict');
  expect(await outside.balance(payee.owner.publicKey)).toBe(1n);
  expect(facts.of(prepared.id).map(({ status }) => status)).toEqual(['signed', 'failed']);
});

test('rule 14: a withdrawal that is forked away is reopened, and lands again by the same bytes', async () => {
  const { chain, facts, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  await chain.call('chain_clock', { paused: true });
  // The wallets themselves must survive the fork.
  await chain.call('chain_advance', 3);
  try {
    const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
    const { tx_hash } = await submit(prepared);
    await chain.call('chain_advance', 2);
    await facts.wait(prepared.id, 'confirmed');
    await chain.call('chain_fork', 3);
    await chain.call('chain_advance', 3);
    await facts.wait(prepared.id, 'reopened');
    await chain.call('chain_clock', { paused: false });
    expect((await facts.wait(prepared.id, 'finalized')).tx_hash).toBe(tx_hash);
    expect(await outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
  } finally {
    await chain.call('chain_clock', { paused: false });
  }
});
