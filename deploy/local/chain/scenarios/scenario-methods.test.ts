import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createAssociatedTokenAccountInstruction,
  createMintToInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import {
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { base64, startChain, type TestChain } from '../../../../test/support/servers/local-chain.ts';

const FEE = 10_000n;
const mint = Keypair.generate().publicKey;
/** Issues the tokens, pays the fees and pays with tokens. */
const payer = Keypair.generate();
const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner);
const source = accountOf(payer.publicKey);
const feeOwner = Keypair.generate().publicKey;
const feeAccount = accountOf(feeOwner);
let chain: TestChain;
let removeFolder: () => void;

const signed = async (...instructions: TransactionInstruction[]): Promise<Transaction> => {
  const { value } = await chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'confirmed',
  });
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: value.blockhash });
  transaction.add(...instructions).sign(payer);
  return transaction;
};
const creation = (owner: PublicKey) =>
  createAssociatedTokenAccountInstruction(payer.publicKey, accountOf(owner), owner, mint);
const transfer = (to: PublicKey, amount: bigint) =>
  createTransferCheckedInstruction(source, mint, to, payer.publicKey, amount, 6);

/** A payment to a new vendor, in the form of a settle. */
const payment = async (gross: bigint) => {
  const vendor = Keypair.generate().publicKey;
  const transaction = await signed(
    creation(vendor),
    transfer(accountOf(vendor), gross - FEE),
    transfer(feeAccount, FEE),
  );
  const name = bs58.encode(transaction.signature!);
  return { transaction, name, vendor };
};
type Payment = Awaited<ReturnType<typeof payment>>;

const send = ({ transaction }: Payment, to = chain.rawWithScenarios) =>
  to('sendTransaction', base64(transaction.serialize()), { encoding: 'base64', skipPreflight: true });
const simulated = async ({ transaction }: Payment, at = chain.rawWithScenarios) => {
  const options = { encoding: 'base64', commitment: 'confirmed' };
  const { result } = await at('simulateTransaction', base64(transaction.serialize()), options);
  return (result as { value: { err: unknown; logs: string[] } }).value;
};
const statusOf = async ({ name }: Payment, at = chain.raw) => {
  const { result } = await at('getSignatureStatuses', [name]);
  return (result as { value: ({ err: unknown; confirmationStatus: string } | null)[] }).value[0];
};
const balanceOf = async (account: PublicKey): Promise<bigint> => {
  const { result } = await chain.raw('getTokenAccountBalance', account.toBase58(), {
    commitment: 'processed',
  });
  return BigInt((result as { value: { amount: string } } | undefined)?.value.amount ?? 0);
};
const receivedBy = ({ vendor }: Payment) => balanceOf(accountOf(vendor));
const advance = (slots: number) => chain.call('chain_advance', slots);

beforeAll(async () => {
  chain = await startChain({ genesisMint: `${mint.toBase58()}:${payer.publicKey.toBase58()}` });
  // A chain that is started again in this folder does not remove it.
  removeFolder = chain.remove;
  await chain.call('chain_clock', { paused: true });
  await chain.call('requestAirdrop', payer.publicKey.toBase58(), 10 * LAMPORTS_PER_SOL);
  await advance(1);
  const seed = await signed(
    creation(payer.publicKey),
    createMintToInstruction(mint, source, payer.publicKey, 100_000_000n),
    creation(feeOwner),
  );
  const sent = await chain.raw('sendTransaction', base64(seed.serialize()), {
    encoding: 'base64',
    skipPreflight: true,
  });
  expect(sent.error).toBeUndefined();
  await advance(1);
});
afterAll(async () => {
  await chain.stop();
  removeFolder();
});

test('a payment of another amount, and any payment at the chain’s own port, plays no scenario', async () => {
  for (const amount of [1_000_100n, 1_000_106n, 2_500_000n]) {
    const paid = await payment(amount);
    expect(await simulated(paid)).toMatchObject({ err: null });
    expect((await send(paid)).result).toBe(paid.name);
    expect(await receivedBy(paid)).toBe(amount - FEE);
  }
  for (const amount of [1_000_101n, 1_000_102n, 1_000_103n, 1_000_105n]) {
    const paid = await payment(amount);
    expect(await simulated(paid, chain.raw)).toMatchObject({ err: null });
    expect((await send(paid, chain.raw)).result).toBe(paid.name);
    expect(await receivedBy(paid)).toBe(amount - FEE);
  }
});

test('1.000101: the token program finds too small a balance, and the balance stays as it is', async () => {
  const held = await balanceOf(source);
  const refused = await payment(1_000_101n);
  const { err, logs } = await simulated(refused);
  expect(err).toEqual({ InstructionError: [1, { Custom: 1 }] });
  expect(logs).toContain('Program log: Error: insufficient funds');
  const wire = base64(refused.transaction.serialize());
  const options = { encoding: 'base64', preflightCommitment: 'confirmed' };
  const sent = await chain.rawWithScenarios('sendTransaction', wire, options);
  expect(sent.error).toMatchObject({ code: -32002, message: expect.stringContaining('0x1') });
  await send(refused);
  expect(await statusOf(refused)).toMatchObject({ err });
  expect(await balanceOf(source)).toBe(held);
});

test('1.000102: the payment is included 50 slots later, once, however often it was sent', async () => {
  const paid = await payment(1_000_102n);
  for (let sends = 0; sends < 3; sends += 1) expect((await send(paid)).result).toBe(paid.name);
  await advance(49);
  expect(await statusOf(paid)).toBeNull();
  await advance(1);
  expect(await receivedBy(paid)).toBe(1_000_102n - FEE);
  await send(paid);
  await advance(60);
  expect(await statusOf(paid)).toMatchObject({ err: null, confirmationStatus: 'finalized' });
});

test('1.000103: the simulation succeeds, the payment fails in its block, and a restart runs it again the same', async () => {
  const held = await balanceOf(source);
  const failed = await payment(1_000_103n);
  expect(await simulated(failed)).toMatchObject({ err: null });
  expect((await send(failed)).result).toBe(failed.name);
  await advance(1);
  const err = { InstructionError: [1, { Custom: 17 }] };
  expect(await statusOf(failed)).toMatchObject({ err, confirmationStatus: 'confirmed' });
  expect([await balanceOf(source), await receivedBy(failed)]).toEqual([held, 0n]);
  const other = await payment(2_000_000n);
  await send(other);
  expect(await receivedBy(other)).toBe(2_000_000n - FEE);

  const { dataDir } = chain;
  await chain.stop('SIGKILL');
  chain = await startChain({ dataDir, genesisMint: `${mint.toBase58()}:${payer.publicKey.toBase58()}` });
  await chain.call('chain_clock', { paused: true });
  expect(chain.output()).not.toContain('differs when run again');
  expect(await statusOf(failed)).toMatchObject({ err });
  expect(await balanceOf(source)).toBe(held - 2_000_000n);
});

test('1.000104: a fork follows the answer that shows the payment as confirmed, once', async () => {
  const paid = await payment(1_000_104n);
  const statusHere = () => statusOf(paid, chain.rawWithScenarios);
  await send(paid);
  expect(await statusHere()).toMatchObject({ confirmationStatus: 'processed' });
  await advance(1);
  expect(await statusOf(paid)).toMatchObject({ confirmationStatus: 'confirmed' });
  await advance(1);
  expect(await statusHere()).toMatchObject({ confirmationStatus: 'confirmed' });
  await advance(1);
  expect(await statusHere()).toBeNull();
  expect(await receivedBy(paid)).toBe(0n);
  await send(paid);
  await advance(1);
  expect(await statusHere()).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
  await advance(32);
  expect(await statusHere()).toMatchObject({ err: null, confirmationStatus: 'finalized' });
  expect(await receivedBy(paid)).toBe(1_000_104n - FEE);
});

test('1.000105: the connection is closed for 25 slots, for this payment only', async () => {
  const paid = await payment(1_000_105n);
  await expect(send(paid)).rejects.toThrow();
  const other = await payment(2_000_000n);
  expect((await send(other)).result).toBe(other.name);
  await advance(24);
  await expect(send(paid)).rejects.toThrow();
  expect(await statusOf(paid, chain.rawWithScenarios)).toBeNull();
  await advance(1);
  expect((await send(paid)).result).toBe(paid.name);
  expect(await receivedBy(paid)).toBe(1_000_105n - FEE);
});
