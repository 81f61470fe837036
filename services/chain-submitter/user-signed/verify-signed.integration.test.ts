import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApproveInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import {
  type Change,
  guard,
  instructionsOf,
  withAccount,
  withData,
} from '../../../test/support/fixtures/chain-submitter/prepared.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import {
  codeOf,
  type Prepared,
  transfersOver,
} from '../../../test/support/fixtures/chain-submitter/transfers.ts';

/** The checks on destinations and on returned bytes before anything is signed for a client. */
let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

const { prepare, submit, feePayerLamports } = transfersOver(() => fixture);
const someone = () => Keypair.generate().publicKey;

test.each<[string, (payer: Payer) => PublicKey | string]>([
  ['the wallet itself', ({ owner }) => owner.publicKey],
  ['its own token account', ({ owner }) => fixture.outside.tokenAccount(owner.publicKey)],
  ['the fee wallet', () => fixture.keys.feeWallet.address],
  ['the fee account', () => fixture.outside.tokenAccount(fixture.keys.feeWallet.address)],
  ['the fee payer', () => fixture.keys.feePayer.address],
  ['a delegate authority', () => fixture.authority],
  ['the mint authority', () => fixture.keys.mintAuthority.address],
  ['the mint', () => fixture.keys.mint],
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

/**
 * The changes that a client may have made to the bytes before it returns them
 * (docs/spec/security.md, Signed transactions).
 */
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
    'an additional approval',
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

test('a change by the client is refused, nothing is signed, and the prepared bytes can still be submitted', async () => {
  const payer = await fixture.payer(5_000_000n);
  const prepared = await prepare(payer, someone(), 2_000_000n);
  expect(instructionsOf(prepared.transaction)).toHaveLength(2);
  const before = await feePayerLamports();
  const results: string[][] = [];
  for (const [name, change] of ALTERED)
    results.push([name, await codeOf(submit(prepared, change(prepared)))]);
  results.push(['signed by another key', await codeOf(submit({ ...prepared, owner: Keypair.generate() }))]);
  expect(results).toEqual(results.map(([name]) => [name, 'validation_error']));
  expect(fixture.events.of(prepared.id)).toEqual([]);
  expect(await feePayerLamports()).toBe(before);
  expect(await codeOf(submit(prepared))).toBe('ok');
  await fixture.events.wait(prepared.id, 'confirmed');
});

test('a guard is simulated before anything is signed, so one that the chain cannot run costs nothing', async () => {
  const payer = await fixture.payer(5_000_000n);
  const prepared = await prepare(payer, someone(), 2_000_000n);
  // The local chain does not have this program, which has the same effect as a guard that fails.
  const guarded = submit(prepared, plus(guard({ key: payer.owner.publicKey })));
  expect(await codeOf(guarded)).not.toMatch(/ok|validation_error/);
  expect(fixture.events.of(prepared.id)).toEqual([]);
  expect(await codeOf(submit(prepared))).toBe('ok');
});
