import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Keypair, type PublicKey, type Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  base64,
  newPayer,
  signedTransfer,
  startChain,
  type TestChain,
} from '../../../test/support/servers/local-chain.ts';

let chain: TestChain;
let payer: Keypair;
beforeAll(async () => {
  chain = await startChain();
  await chain.call('chain_clock', { paused: true });
  payer = await newPayer(chain);
});
afterEach(() => chain.call('chain_fault'));
afterAll(async () => {
  await chain.stop();
  chain.remove();
});

type Position = { slot: number; blockHeight: number };
const statusOf = async (signature: string) =>
  (await chain.call<{ value: unknown[] }>('getSignatureStatuses', [signature])).value[0];
const nameOf = (transaction: Transaction) => bs58.encode(transaction.signature ?? new Uint8Array());
const balanceOf = async (key: PublicKey) =>
  (await chain.call<{ value: number }>('getBalance', key.toBase58(), { commitment: 'processed' })).value;
const send = (transaction: Transaction) =>
  chain.raw('sendTransaction', base64(transaction.serialize()), {
    encoding: 'base64',
    preflightCommitment: 'processed',
  });
const someone = () => Keypair.generate().publicKey;

test('a fork undoes its slots, and the same bytes can be included again', async () => {
  const to = someone();
  const transaction = await signedTransfer(chain, payer, to, 1_000_000);
  const name = nameOf(transaction);
  const funds = await balanceOf(payer.publicKey);
  await chain.call('chain_advance', 1);
  await send(transaction);
  await chain.call('chain_advance', 2);
  const remaining = await chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'processed',
  });
  const before = await chain.call<Position>('chain_clock');

  const after = await chain.call<Position & { lost: string[] }>('chain_fork', 3);
  expect(after).toEqual({ slot: before.slot + 1, blockHeight: before.blockHeight - 3, lost: [name] });
  expect(await statusOf(name)).toBeNull();
  expect(await chain.call('getSignaturesForAddress', to.toBase58(), { commitment: 'confirmed' })).toEqual([]);
  expect([await balanceOf(to), await balanceOf(payer.publicKey)]).toEqual([0, funds]);
  const valid = await chain.call<{ value: boolean }>('isBlockhashValid', remaining.value.blockhash, {
    commitment: 'processed',
  });
  expect(valid.value).toBe(false);

  const again = async () => {
    expect((await send(transaction)).result).toBe(name);
    expect((await send(transaction)).error?.data.err).toBe('AlreadyProcessed');
    expect(await balanceOf(to)).toBe(1_000_000);
  };
  await again();
  // The slot after a fork is skipped. A second fork undoes only this slot, and no block.
  const second = await chain.call('chain_fork', 1);
  expect(second).toEqual({ slot: before.slot + 2, blockHeight: before.blockHeight - 3, lost: [name] });
  await again();
  expect(await chain.call('chain_advance', 1)).toEqual({
    slot: before.slot + 3,
    blockHeight: before.blockHeight - 2,
  });
  expect(await chain.call('chain_fork', 1)).toMatchObject({ lost: [] });
  expect((await chain.raw('chain_fork', 40)).error?.code).toBe(-32602);
});

test('a fork undoes an airdrop and an account that it created', async () => {
  const key = someone();
  const signature = await chain.call<string>('requestAirdrop', key.toBase58(), 5_000_000);
  expect(await chain.call('chain_fork', 1)).toMatchObject({ lost: [signature] });
  const read = await chain.call<{ value: unknown }>('getAccountInfo', key.toBase58(), {
    commitment: 'processed',
  });
  expect(read.value).toBeNull();
  await chain.call('chain_advance', 40);
});

test('chain_clock sets the pace, pauses the slots and sets slot time 0', async () => {
  const slot = async () => (await chain.call<Position>('chain_clock')).slot;
  const paused = await slot();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await slot()).toBe(paused);
  await chain.call('chain_clock', { slotMs: 5, paused: false });
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(await slot()).toBeGreaterThan(paused);
  expect(await chain.call('chain_clock', { slotMs: 0, paused: true })).toMatchObject({
    slotMs: 0,
    paused: true,
  });
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  await send(transaction);
  expect(await statusOf(nameOf(transaction))).toMatchObject({ confirmationStatus: 'confirmed' });
  await chain.call('chain_clock', { slotMs: 20 });
});

test('a clock on demand stops when the newest transaction is final, and a transaction starts it again', async () => {
  const slot = async () => (await chain.call<Position>('chain_clock')).slot;
  const stopsAt = async (last: number) => {
    await waitFor(slot, (reached) => reached >= last);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await slot()).toBe(last);
  };
  const paused = await slot();
  try {
    await chain.call('chain_clock', { slotMs: 1, paused: false, onDemand: true });
    await stopsAt(paused + 33);
    for (const to of [someone(), someone()]) {
      const transaction = await signedTransfer(chain, payer, to, 1_000_000);
      const before = await slot();
      await send(transaction);
      await stopsAt(before + 33);
      expect(await statusOf(nameOf(transaction))).toMatchObject({ confirmationStatus: 'finalized' });
    }
  } finally {
    await chain.call('chain_clock', { slotMs: 20, paused: true, onDemand: false });
  }
});

test('a block is answered from its commitment on; a skipped and a deleted one are refused as by a node', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  await send(transaction);
  const slot = await chain.call<number>('getSlot', { commitment: 'processed' });
  const options = (commitment: string) => ({ commitment, transactionDetails: 'signatures' });
  const read = async (of: number, commitment: string) => {
    const { result, error } = await chain.raw('getBlock', of, options(commitment));
    return error?.code ?? (result as { signatures: string[] }).signatures;
  };
  expect([await read(slot, 'confirmed'), await read(slot, 'processed')]).toEqual([-32004, -32602]);
  await chain.call('chain_advance', 1);
  expect(await read(slot, 'confirmed')).toEqual([nameOf(transaction)]);
  await chain.call('chain_fork', 2);
  await chain.call('chain_advance', 1);
  expect(await read(slot, 'confirmed')).toBe(-32007);
  await chain.call('chain_advance', 301);
  expect(await read(slot, 'finalized')).toBe(-32001);
});

test('fault drop: the connection is closed and the call has no effect', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  const list = await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop', count: 1 });
  expect(list).toEqual([{ method: 'sendTransaction', kind: 'drop', left: 1 }]);
  await expect(send(transaction)).rejects.toThrow();
  expect(await statusOf(nameOf(transaction))).toBeNull();
  expect((await send(transaction)).result).toBe(nameOf(transaction));
});

test('fault timeout_after_accept: the transaction is included and the call gets no answer', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'timeout_after_accept', count: 1 });
  const answer = await Promise.race([
    send(transaction).catch(() => 'closed'),
    new Promise((resolve) => setTimeout(resolve, 150, 'silence')),
  ]);
  expect(answer).toBe('silence');
  expect(await statusOf(nameOf(transaction))).toMatchObject({ err: null });
});

test('fault drop_after_accept: the transaction is included and the connection is closed', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop_after_accept', count: 1 });
  await expect(send(transaction)).rejects.toThrow();
  expect(await statusOf(nameOf(transaction))).toMatchObject({ err: null });
});

test('fault duplicate: a transaction that is sent twice is included once', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  const stats = () => chain.call<{ executed: number; duplicate: number }>('chain_stats');
  const before = await stats();
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'duplicate', count: 1 });
  expect((await send(transaction)).result).toBe(nameOf(transaction));
  const after = await stats();
  expect([after.executed - before.executed, after.duplicate - before.duplicate]).toEqual([1, 1]);
});

test('fault lie_null: statuses and transactions are denied until the fault ends', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  const name = nameOf(transaction);
  await send(transaction);
  await chain.call('chain_advance', 1);
  await chain.call(
    'chain_fault',
    { method: 'getSignatureStatuses', kind: 'lie_null', ms: 1000 },
    { method: 'getTransaction', kind: 'lie_null', count: 1 },
  );
  const read = () => chain.call('getTransaction', name, { commitment: 'confirmed' });
  expect([await statusOf(name), await read()]).toEqual([null, null]);
  await waitFor(
    async () => [await statusOf(name), await read()],
    (answers) => !answers.includes(null),
  );
});

test('fault swap: two calls get each other’s answers, and a single call gets its own', async () => {
  await chain.call('chain_fault', { method: '*', kind: 'swap', count: 3 });
  const answers = await Promise.all([chain.raw('getHealth'), chain.raw('getGenesisHash')]);
  expect(answers.map(({ result }) => result)[1]).toBe('ok');
  expect(await chain.call('getHealth')).toBe('ok');
});

test('fault delay: the call waits, and clearing removes every fault', async () => {
  await chain.call('chain_fault', { method: 'getHealth', kind: 'delay', ms: 80 });
  const started = performance.now();
  expect(await chain.call('getHealth')).toBe('ok');
  expect(performance.now() - started).toBeGreaterThan(70);
  await chain.call('chain_fault', { method: '*', kind: 'drop' });
  expect(await chain.call('chain_fault')).toEqual([]);
  expect(await chain.call('getHealth')).toBe('ok');
  for (const wrong of [
    { method: 'getHealth', kind: 'delay' },
    { method: 'getHealth', kind: 'lie_null' },
    { method: 'getHealth', kind: 'duplicate' },
    { method: 'getHealth', kind: 'explode' },
  ]) {
    expect((await chain.raw('chain_fault', wrong)).error?.code).toBe(-32602);
  }
});
