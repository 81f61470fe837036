import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import {
  keypairOf,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** Incoming transfers as the service observes them on a real chain: none before it is final. */

let fixture: SubmitterFixture;
/** More slots than finality takes. */
const FINAL_SLOTS = 40;

beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
/** A chain that stands still is asked between confirmation and finality. */
const pause = (paused: boolean) => fixture.chain.call('chain_clock', { paused });
afterEach(() => pause(false));
afterAll(() => fixture.stop());

const observe = (tx_hash: string, owner: PublicKey) =>
  call(fixture.fundingBus, chainSubmitter, 'observeTransfers', { tx_hash, owner: owner.toBase58() });
const final = (tx_hash: string, owner: PublicKey) =>
  until(
    () => observe(tx_hash, owner),
    ({ status }) => status !== 'unknown',
  );

/** A treasury with USDC, and the instructions that transfer from it. */
const treasury = async () => {
  const { owner } = await fixture.payer(1000n, 0n);
  const { mint } = fixture.outside;
  const minter = keypairOf(fixture.keys.mintAuthority.secretKey);
  const source = fixture.outside.tokenAccount(owner.publicKey);
  const send = (to: PublicKey, amount: bigint) => {
    const account = fixture.outside.tokenAccount(to);
    return [
      createAssociatedTokenAccountIdempotentInstruction(minter.publicKey, account, to, mint),
      createTransferCheckedInstruction(source, mint, account, owner.publicKey, amount, 6),
    ];
  };
  return { owner, minter, source, send, mint };
};

test('a transfer is unknown while a fork may remove it, then observed with its position and amount', async () => {
  const { owner, minter, source, send } = await treasury();
  const [to, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  await pause(true);
  const hash = await fixture.include([...send(other, 3n), ...send(to, 5n), ...send(to, 7n)], [minter, owner]);
  expect(await observe(hash, to)).toEqual({ status: 'unknown', transfers: [] });
  await pause(false);
  expect(await final(hash, to)).toEqual({
    status: 'finalized',
    transfers: [
      { instruction: '3', source: source.toBase58(), amount: '5' },
      { instruction: '5', source: source.toBase58(), amount: '7' },
    ],
  });
  expect((await final(hash, other)).transfers.map(({ amount }) => amount)).toEqual(['3']);
  expect(await final(hash, owner.publicKey)).toEqual({ status: 'finalized', transfers: [] });
});

test('a confirmed transfer that a fork removes is never observed', async () => {
  const { owner, minter, send } = await treasury();
  const to = Keypair.generate().publicKey;
  await pause(true);
  const hash = await fixture.include(send(to, 5n), [minter, owner]);
  const { lost } = await fixture.chain.call<{ lost: string[] }>('chain_fork', 8);
  expect(lost).toContain(hash);
  await fixture.chain.call('chain_advance', FINAL_SLOTS);
  expect(await observe(hash, to)).toEqual({ status: 'unknown', transfers: [] });
});

test('an amount that was minted into a wallet is not a transfer', async () => {
  const { owner, minter, source, mint } = await treasury();
  const hash = await fixture.include([createMintToInstruction(mint, source, minter.publicKey, 9n)], [minter]);
  expect(await final(hash, owner.publicKey)).toEqual({ status: 'finalized', transfers: [] });
});

test('a transaction without a transfer to the wallet', async () => {
  const { minter } = await treasury();
  const nobody = Keypair.generate().publicKey;
  const pay = SystemProgram.transfer({ fromPubkey: minter.publicKey, toPubkey: nobody, lamports: 1_000_000 });
  const hash = await fixture.include([pay], [minter]);
  expect(await final(hash, nobody)).toEqual({ status: 'finalized', transfers: [] });
});

test.each([
  ['a signature that was never included', bs58.encode(Buffer.alloc(64, 5))],
  ['a text of another length', '5'.repeat(70)],
])('the transfers of a transaction are unknown: %s', async (_name, hash) => {
  expect(await observe(hash, Keypair.generate().publicKey)).toEqual({ status: 'unknown', transfers: [] });
});
