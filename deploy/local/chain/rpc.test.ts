import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair, PublicKey, SystemProgram, type Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
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
  // Time passes only when a test advances it.
  await chain.call('chain_clock', { paused: true });
  payer = await newPayer(chain);
});
afterAll(async () => {
  expect(await chain.stop()).toBe(0);
  chain.remove();
});

type Status = { slot: number; confirmations: number | null; err: unknown; confirmationStatus: string } | null;
const advance = (slots: number) => chain.call('chain_advance', slots);
const statusOf = async (signature: string) =>
  (await chain.call<{ value: Status[] }>('getSignatureStatuses', [signature])).value[0];
const nameOf = (transaction: Transaction) => bs58.encode(transaction.signature ?? new Uint8Array());
const balanceOf = async (key: PublicKey, commitment = 'processed') =>
  (await chain.call<{ value: number }>('getBalance', key.toBase58(), { commitment })).value;
const someone = () => Keypair.generate().publicKey;
const send = (transaction: Transaction, options: object = {}) =>
  chain.raw('sendTransaction', base64(transaction.serialize({ verifySignatures: false })), {
    encoding: 'base64',
    preflightCommitment: 'confirmed',
    ...options,
  });
const simulate = (transaction: Transaction, options: object) =>
  chain.raw(
    'simulateTransaction',
    base64(transaction.serialize({ requireAllSignatures: false, verifySignatures: false })),
    { encoding: 'base64', commitment: 'confirmed', ...options },
  );

test('each commitment sees its slot and height', async () => {
  const slot = (commitment: string) => chain.call<number>('getSlot', { commitment });
  const height = (commitment: string) => chain.call<number>('getBlockHeight', { commitment });
  const newest = await slot('processed');
  expect(await slot('confirmed')).toBe(newest - 1);
  expect(await chain.call('getSlot')).toBe(newest - 32);
  expect(await height('processed')).toBe((await height('finalized')) + 32);
  expect(await height('processed')).not.toBe(newest);
  const latest = await chain.call<{ context: { slot: number }; value: { lastValidBlockHeight: number } }>(
    'getLatestBlockhash',
  );
  expect(latest.context.slot).toBe(newest - 32);
  expect(latest.value.lastValidBlockHeight).toBe((await height('finalized')) + 150);
  const early = await chain.raw('getSlot', { commitment: 'confirmed', minContextSlot: newest });
  expect(early.error).toMatchObject({ code: -32016, data: { contextSlot: newest - 1 } });
});

test('a transaction is processed, then confirmed, then finalized, and reads return it from its commitment on', async () => {
  const to = someone();
  const transaction = await signedTransfer(chain, payer, to, 1_000_000);
  const name = nameOf(transaction);
  expect(await statusOf(name)).toBeNull();
  expect((await send(transaction)).result).toBe(name);
  expect(await statusOf(name)).toMatchObject({
    confirmationStatus: 'processed',
    confirmations: 0,
    err: null,
  });
  expect([await balanceOf(to), await balanceOf(to, 'confirmed')]).toEqual([1_000_000, 0]);
  expect(await chain.call('getTransaction', name, { commitment: 'confirmed' })).toBeNull();
  await advance(1);
  expect(await statusOf(name)).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 1 });
  expect([await balanceOf(to, 'confirmed'), await balanceOf(to, 'finalized')]).toEqual([1_000_000, 0]);
  expect(await chain.call('getTransaction', name, { commitment: 'confirmed' })).not.toBeNull();
  await advance(30);
  expect(await statusOf(name)).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 31 });
  await advance(1);
  expect(await statusOf(name)).toMatchObject({ confirmationStatus: 'finalized', confirmations: null });
  expect(await balanceOf(to, 'finalized')).toBe(1_000_000);
  // After the status cache has expired, only the history has the status.
  await advance(300);
  expect(await statusOf(name)).toBeNull();
  const options = { searchTransactionHistory: true };
  const { value } = await chain.call<{ value: Status[] }>('getSignatureStatuses', [name], options);
  expect(value[0]?.confirmationStatus).toBe('finalized');
});

test('a blockhash is valid for exactly 150 blocks', async () => {
  const [first, second] = [
    await signedTransfer(chain, payer, someone(), 1_000_000),
    await signedTransfer(chain, payer, someone(), 1_000_001),
  ];
  const valid = async () => {
    const { value } = await chain.call<{ value: boolean }>('isBlockhashValid', first.recentBlockhash, {
      commitment: 'processed',
    });
    return value;
  };
  // The blockhash is that of the slot before this one.
  await advance(149);
  expect(await valid()).toBe(true);
  expect((await send(first)).result).toBe(nameOf(first));
  await advance(1);
  expect(await valid()).toBe(false);
  await advance(1);
  expect((await send(second)).error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Blockhash not found',
    data: { err: 'BlockhashNotFound', logs: [] },
  });
  // Without preflight the signature is answered and the transaction is dropped, as by a node.
  expect((await send(second, { skipPreflight: true })).result).toBe(nameOf(second));
  expect(await statusOf(nameOf(second))).toBeNull();
});

test('preflight refuses a blockhash that is newer than its commitment', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  const answer = await send(transaction, { preflightCommitment: 'finalized' });
  expect(answer.error?.data.err).toBe('BlockhashNotFound');
});

test('duplicates are refused and counted', async () => {
  const to = someone();
  const transaction = await signedTransfer(chain, payer, to, 1_000_000);
  const duplicates = async () => (await chain.call<{ duplicate: number }>('chain_stats')).duplicate;
  const before = await duplicates();
  await send(transaction);
  expect((await send(transaction)).error).toMatchObject({
    message: 'Transaction simulation failed: This transaction has already been processed',
    data: { err: 'AlreadyProcessed' },
  });
  expect((await send(transaction, { skipPreflight: true })).result).toBe(nameOf(transaction));
  expect(await balanceOf(to)).toBe(1_000_000);
  expect((await duplicates()) - before).toBe(2);
});

test('a transaction that fails in its block pays its fee and is in the history', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 10 ** 15);
  const err = { InstructionError: [0, { Custom: 1 }] };
  const refused = await send(transaction);
  expect(refused.error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    data: { err, logs: expect.arrayContaining([expect.stringContaining('insufficient lamports')]) },
  });
  const before = await balanceOf(payer.publicKey);
  await send(transaction, { skipPreflight: true });
  expect(before - (await balanceOf(payer.publicKey))).toBe(5_000);
  expect(await statusOf(nameOf(transaction))).toMatchObject({ err, status: { Err: err } });
  await advance(1);
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  expect(await chain.call('getTransaction', nameOf(transaction), options)).toMatchObject({
    meta: { err, fee: 5_000 },
    version: 'legacy',
  });
});

test('a transaction that is not included in a block leaves no trace', async () => {
  const stranger = Keypair.generate();
  const transaction = await signedTransfer(chain, stranger, someone(), 1_000_000);
  expect((await send(transaction)).error?.data.err).toBe('AccountNotFound');
  await send(transaction, { skipPreflight: true });
  expect(await statusOf(nameOf(transaction))).toBeNull();

  const forged = await signedTransfer(chain, payer, someone(), 1_000_000);
  forged.signature?.set([1, 2, 3], 8);
  expect((await send(forged)).error).toMatchObject({
    code: -32003,
    message: 'Transaction signature verification failure',
  });
  expect((await send(forged, { skipPreflight: true })).result).toBe(nameOf(forged));
  expect(await statusOf(nameOf(forged))).toBeNull();
});

test('a simulation works with and without signatures and blockhash', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  const value = async (options: object) => {
    const answer = await simulate(transaction, options);
    return answer.error ?? (answer.result as { value: Record<string, unknown> }).value;
  };
  expect(await value({ sigVerify: true })).toMatchObject({ err: null, unitsConsumed: 150 });
  transaction.signatures[0]!.signature = null;
  expect(await value({ sigVerify: true })).toMatchObject({ code: -32003 });
  const to = transaction.instructions[0]!.keys[1]!.pubkey.toBase58();
  const accounts = { addresses: [to], encoding: 'base64' };
  expect(await value({ accounts })).toMatchObject({ err: null, accounts: [{ lamports: 1_000_000 }] });
  expect(await balanceOf(new PublicKey(to))).toBe(0);
  transaction.recentBlockhash = someone().toBase58();
  expect(await value({})).toMatchObject({ err: 'BlockhashNotFound', logs: [] });
  expect(await value({ replaceRecentBlockhash: true })).toMatchObject({
    err: null,
    replacementBlockhash: { blockhash: expect.any(String), lastValidBlockHeight: expect.any(Number) },
  });
  expect(await value({ replaceRecentBlockhash: true, sigVerify: true })).toMatchObject({ code: -32602 });
});

test('an included transaction is recognized by its message, whatever stands in its signatures', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  await send(transaction);
  transaction.signatures[0]!.signature = null;
  const answer = await simulate(transaction, {});
  expect(answer.result).toMatchObject({ value: { err: 'AlreadyProcessed' } });
});

test('a fee consists of a part per signature and the compute price', async () => {
  const transaction = await signedTransfer(chain, payer, someone(), 1_000_000);
  const fee = (message: Uint8Array) =>
    chain.call<{ value: number | null }>('getFeeForMessage', base64(message), { commitment: 'confirmed' });
  expect((await fee(transaction.serializeMessage())).value).toBe(5_000);
  transaction.recentBlockhash = someone().toBase58();
  expect((await fee(transaction.serializeMessage())).value).toBeNull();
});

test('JSON-RPC batches, notifications and errors follow the specification', async () => {
  const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });
  const answers = (await chain.post([
    request('a', 'getHealth'),
    { jsonrpc: '2.0', method: 'getHealth' },
    request(2, 'chain_nothing'),
    request(3, 'toString'),
    request(4, 'getBalance', ['nothing']),
    7,
  ])) as { id: unknown; result?: unknown; error?: { code: number } }[];
  expect(answers.map(({ id, result, error }) => [id, result ?? error?.code])).toEqual([
    ['a', 'ok'],
    [2, -32601],
    [3, -32601],
    [4, -32602],
    [null, -32600],
  ]);
  expect(await chain.post('{')).toMatchObject({ error: { code: -32700 } });
  expect(await chain.post([])).toMatchObject({ error: { code: -32600 } });
});

test('bytes that are not a transaction are refused and the process continues', async () => {
  const good = (await signedTransfer(chain, payer, someone(), 1_000_000)).serialize();
  const refused = async (bytes: Uint8Array) =>
    (await chain.raw('sendTransaction', base64(bytes), { encoding: 'base64' })).error?.code;
  const changed = (at: number, value: number) =>
    Uint8Array.from(good, (byte, i) => (i === at ? value : byte));
  const keysAt = 1 + 64 + 3;
  const malformed = [
    new Uint8Array(),
    good.subarray(0, 40),
    good.subarray(0, -1),
    Uint8Array.from([...good, 0]),
    changed(0, 0),
    changed(0, 2),
    changed(0, 0xff),
    changed(1 + 64, 0),
    changed(1 + 64, 0x80),
    changed(1 + 64, 0x81),
    changed(1 + 64 + 1, 1),
    changed(1 + 64 + 2, 9),
    changed(keysAt, 200),
    changed(keysAt + 1 + 3 * 32 + 32 + 1, 77),
    new Uint8Array(1233),
  ];
  for (const bytes of malformed) expect(await refused(bytes)).toBe(-32602);
  expect((await chain.raw('sendTransaction', '?!', { encoding: 'base64' })).error?.code).toBe(-32602);
  expect((await chain.raw('sendTransaction', base64(good))).error?.code).toBe(-32602);

  // Every message with one changed byte, unsigned, gets an answer.
  const batch = Array.from(good, (byte, at) => ({
    jsonrpc: '2.0',
    id: at,
    method: 'simulateTransaction',
    params: [
      base64(changed(at, (byte + 1 + ((at * 37) % 254)) % 256)),
      { encoding: 'base64', replaceRecentBlockhash: true },
    ],
  }));
  expect(await chain.post(batch)).toHaveLength(good.length);
  expect(await chain.call('getHealth')).toBe('ok');
});

test('an airdrop above the balance of the faucet is refused', async () => {
  const answer = await chain.raw('requestAirdrop', someone().toBase58(), Number.MAX_SAFE_INTEGER);
  expect(answer.error).toBeUndefined();
  const small = await chain.raw('requestAirdrop', someone().toBase58(), 1);
  expect(small.error?.code).toBe(-32603);
});

test('accounts are read in every encoding, in slices and several at once', async () => {
  const name = SystemProgram.programId.toBase58();
  const info = async (options: object) =>
    (await chain.call<{ value: { data: unknown; space: number } }>('getAccountInfo', name, options)).value
      .data;
  const text = Buffer.from('solana_system_program');
  expect(await info({})).toBe(bs58.encode(text));
  expect(await info({ encoding: 'base58' })).toEqual([bs58.encode(text), 'base58']);
  expect(await info({ encoding: 'base64', dataSlice: { offset: 7, length: 6 } })).toEqual([
    Buffer.from('system').toString('base64'),
    'base64',
  ]);
  const { value } = await chain.call<{ value: unknown[] }>('getMultipleAccounts', [
    name,
    someone().toBase58(),
  ]);
  expect(value).toEqual([expect.objectContaining({ executable: true }), null]);
});
