import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createAssociatedTokenAccount, MintLayout, mintTo, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Keypair, PublicKey, type Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  base64,
  newPayer,
  signedTransfer,
  startChain,
  type TestChain,
} from '../../../test/support/servers/local-chain.ts';

const nameOf = (transaction: Transaction) => bs58.encode(transaction.signature ?? new Uint8Array());
const someone = () => Keypair.generate().publicKey;
const send = (chain: TestChain, transaction: Transaction, options: object = {}) =>
  chain.raw('sendTransaction', base64(transaction.serialize()), {
    encoding: 'base64',
    preflightCommitment: 'processed',
    ...options,
  });
const options = { commitment: 'confirmed' };

/** Everything that a client can see of a chain and that a restart must preserve. */
const view = async (chain: TestChain, keys: PublicKey[], signatures: string[]) => ({
  genesis: await chain.call('getGenesisHash'),
  latest: await chain.call('getLatestBlockhash'),
  position: await chain.call('chain_clock'),
  balances: await Promise.all(
    keys.flatMap((key) =>
      ['processed', 'confirmed', 'finalized'].map((commitment) =>
        chain.call('getBalance', key.toBase58(), { commitment }),
      ),
    ),
  ),
  statuses: await chain.call('getSignatureStatuses', signatures, { searchTransactionHistory: true }),
  transactions: await Promise.all(signatures.map((name) => chain.call('getTransaction', name, options))),
  history: await Promise.all(
    keys.map((key) => chain.call('getSignaturesForAddress', key.toBase58(), options)),
  ),
});

const startPaused = async (dataDir?: string) => {
  // The slot time is so long that no tick comes between the start and the pause.
  const chain = await startChain({ slotMs: 20_000, ...(dataDir && { dataDir }) });
  await chain.call('chain_clock', { paused: true });
  return chain;
};

/**
 * Makes transactions in old and new slots: one failed, one lost in a fork, one signed but not yet
 * sent.
 */
const prepare = async (chain: TestChain) => {
  const payer = await newPayer(chain);
  const to = someone();
  const first = await signedTransfer(chain, payer, to, 1_000_000);
  await send(chain, first);
  await chain.call('chain_advance', 200);
  const failed = await signedTransfer(chain, payer, to, 10 ** 15);
  await send(chain, failed, { skipPreflight: true });
  await chain.call('chain_advance', 20);
  const waiting = await signedTransfer(chain, payer, to, 4_000_000);
  const lost = await signedTransfer(chain, payer, to, 2_000_000);
  await chain.call('chain_advance', 1);
  await send(chain, lost);
  await chain.call('chain_fork', 1);
  await chain.call('chain_advance', 2);
  const last = await signedTransfer(chain, payer, to, 3_000_000);
  await send(chain, last);
  await chain.call('chain_advance', 1);
  await send(chain, await signedTransfer(chain, payer, someone(), 1_000_001));
  // Slots without a transaction are not in the journal.
  await chain.call('chain_advance', 3);
  return { payer, to, waiting, lost, names: [first, failed, lost, last].map(nameOf) };
};

test.each(['SIGTERM', 'SIGKILL'] as const)('the whole state survives %s', async (signal) => {
  const before = await startPaused();
  const { payer, to, waiting, lost, names } = await prepare(before);
  const seen = await view(before, [payer.publicKey, to], names);
  expect(await before.stop(signal)).toBe(signal === 'SIGTERM' ? 0 : null);

  const after = await startPaused(before.dataDir);
  expect(await view(after, [payer.publicKey, to], names)).toEqual(seen);
  expect(after.output()).not.toContain('"level":40');
  // The signed transaction was not included before and is included now. The included one is
  // refused. The one that a fork undid is included again.
  expect((await send(after, waiting)).result).toBe(nameOf(waiting));
  expect((await send(after, waiting)).error?.data.err).toBe('AlreadyProcessed');
  expect((await send(after, lost)).result).toBe(nameOf(lost));
  // A fork can undo slots from before the restart.
  const { lost: undone } = await after.call<{ lost: string[] }>('chain_fork', 5);
  expect(undone).toContain(names[3]);
  await after.stop('SIGKILL');
  before.remove();
});

test('a second restart, a truncated last line and a damaged snapshot lose no state', async () => {
  const first = await startPaused();
  const { payer, to, names } = await prepare(first);
  const seen = await view(first, [payer.publicKey, to], names);
  await first.stop('SIGTERM');
  const journal = join(first.dataDir, 'journal');
  const whole = readFileSync(journal);
  appendFileSync(journal, '12345678 {"t":"tx","slot":45');

  const second = await startPaused(first.dataDir);
  expect(await view(second, [payer.publicKey, to], names)).toEqual(seen);
  await second.stop('SIGTERM');
  expect(readFileSync(journal).equals(whole)).toBe(true);

  // One changed byte in the snapshot is detected, and the journal is sufficient.
  const snapshot = join(first.dataDir, 'snapshot');
  const bytes = readFileSync(snapshot);
  bytes[bytes.length - 20]! ^= 1;
  writeFileSync(snapshot, bytes);
  const third = await startPaused(first.dataDir);
  expect(third.output()).toContain('the snapshot is damaged');
  expect(await view(third, [payer.publicKey, to], names)).toEqual(seen);
  await third.stop('SIGKILL');

  // A damaged line in the middle cannot be repaired. The start fails, because a wrong chain is
  // worse than none.
  whole[40]! ^= 1;
  writeFileSync(journal, whole);
  await expect(startPaused(first.dataDir)).rejects.toThrow('the journal is damaged at byte 0');
  first.remove();
});

test('the genesis mint is visible at every commitment from the start on, and a restart keeps it', async () => {
  const authority = Keypair.generate();
  // An address without a secret key: the mint cannot come from a transaction.
  const mint = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
  const genesisMint = `${mint.toBase58()}:${authority.publicKey.toBase58()}`;
  const first = await startChain({ genesisMint });
  const shown = (chain: TestChain, encoding: string) =>
    chain.call<{ value: { owner: string; data: unknown } | null }>('getAccountInfo', mint.toBase58(), {
      encoding,
    });
  const { value: raw } = await shown(first, 'base64');
  expect(raw?.owner).toBe(TOKEN_PROGRAM_ID.toBase58());
  expect(MintLayout.decode(Buffer.from((raw!.data as [string])[0], 'base64')).decimals).toBe(6);
  const parsed = (supply: string) => ({
    value: {
      data: {
        program: 'spl-token',
        parsed: {
          type: 'mint',
          info: {
            decimals: 6,
            freezeAuthority: null,
            isInitialized: true,
            mintAuthority: authority.publicKey.toBase58(),
            supply,
          },
        },
      },
    },
  });
  expect(await shown(first, 'jsonParsed')).toMatchObject(parsed('0'));

  const connection = first.connection();
  await first.call('requestAirdrop', authority.publicKey.toBase58(), 10 ** 9);
  const account = await createAssociatedTokenAccount(connection, authority, mint, someone());
  await mintTo(connection, authority, mint, account, authority, 7);
  first.closeSockets();
  // Once from the journal alone, and once from a snapshot. Neither start names the mint again.
  await first.stop('SIGKILL');
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const next = await startChain({ dataDir: first.dataDir });
    await next.call('chain_advance', 32);
    expect(await shown(next, 'jsonParsed')).toMatchObject(parsed('7'));
    expect(next.output()).not.toContain('"level":40');
    await next.stop(signal);
  }
  first.remove();

  await expect(startChain({ genesisMint: `${'1'.repeat(44)}:${mint.toBase58()}` })).rejects.toThrow(
    'correct CHAIN_GENESIS_MINT',
  );
});

test('two chains share neither genesis hash nor blockhashes, and control methods are off by default', async () => {
  const [one, other] = await Promise.all([startChain({ control: false }), startChain({ control: false })]);
  for (const method of ['getGenesisHash', 'getLatestBlockhash']) {
    expect(await one.call(method)).not.toEqual(await other.call(method));
  }
  for (const method of ['chain_advance', 'chain_fork', 'chain_fault', 'chain_clock', 'chain_stats']) {
    expect((await one.raw(method)).error).toMatchObject({ code: -32601, message: 'Method not found' });
  }
  expect(await one.stop('SIGINT')).toBe(0);
  expect(await other.stop()).toBe(0);
  one.remove();
  other.remove();
});
