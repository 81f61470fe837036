import { execFile } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  createApproveInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createRevokeInstruction,
} from '@solana/spl-token';
import { Keypair, Transaction, type TransactionInstruction } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { connectDatabases, type EveryDatabase } from '../../deploy/local/servers/every-database.ts';
import { isBroken } from '../../tools/reconcile/compare.ts';
import { placeOf, reconcile } from '../../tools/reconcile.ts';
import { waitFor, waitUntil } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Tests what an owner does with other apps, directly on the chain: the service detects it without a
 * call.
 */

const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
let database: EveryDatabase;
beforeAll(() => {
  database = connectDatabases(stack.postgres_urls, { max: 1 });
});
afterAll(() => database.end());

const confirmed = (signature: string): Promise<void> =>
  waitUntil(async () => {
    const { value } = await chain.connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(JSON.stringify(value.err));
    return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized';
  });

/** A transaction that the owner alone signs and pays for. */
const send = async ({ wallet }: Consumer, ...instructions: TransactionInstruction[]): Promise<void> => {
  const { connection } = chain;
  await confirmed(await connection.requestAirdrop(wallet.publicKey, 10_000_000));
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: wallet.publicKey, recentBlockhash: blockhash });
  transaction.add(...instructions).sign(wallet);
  await confirmed(await connection.sendRawTransaction(transaction.serialize()));
};

const noticed = (walletId: string, status: string): Promise<{ token_account_exists: boolean }> =>
  waitFor(
    async () => {
      const { rows } = await database.query('select * from wallet.snapshots where wallet_id = $1', [
        walletId,
      ]);
      return rows[0];
    },
    (snapshot) => snapshot.delegation_status === status,
  );

test('an approval of another app, a revoke, and settles that exhaust the allowance are detected', async () => {
  const price = 2_500_000n;
  const vendor = await createVendor(api, stack, { price });
  const [tricked, cautious, spent] = await Promise.all([
    createConsumer(api, stack),
    createConsumer(api, stack),
    createConsumer(api, stack, { allowance: price }),
  ]);
  const account = (of: Consumer) => chain.tokenAccount(of.wallet.publicKey);
  const other = Keypair.generate().publicKey;
  await Promise.all([
    send(tricked, createApproveInstruction(account(tricked), other, tricked.wallet.publicKey, 1n)),
    send(cautious, createRevokeInstruction(account(cautious), cautious.wallet.publicKey)),
    must(settleWith(api, spent.token, await quoteOf(api, vendor)), 'settle'),
  ]);
  await noticed(tricked.walletId, 'overwritten');
  await noticed(cautious.walletId, 'revoked');
  await noticed(spent.walletId, 'exhausted');
  const answer = await settleWith(api, cautious.token, await quoteOf(api, vendor));
  expect(answer.body.error?.code).toBe('delegation_inactive');
});

test('a closed token account is flagged, and the history still agrees with the records', async () => {
  const gone = await createConsumer(api, stack);
  const [account, owner] = [chain.tokenAccount(gone.wallet.publicKey), gone.wallet.publicKey];
  await send(
    gone,
    createBurnInstruction(account, chain.mint, owner, await chain.balance(owner)),
    createCloseAccountInstruction(account, owner, owner),
  );
  expect(await noticed(gone.walletId, 'revoked')).toMatchObject({ token_account_exists: false });
  const { body } = await api<{ data: object[] }>('GET /v1/wallets', { token: gone.token });
  expect(body.data[0]).toMatchObject({ token_account_closed: true, balance: '0' });
  const { reports } = await reconcile(placeOf(stack, 'test'));
  const own = reports.find((report) => report.account === account.toBase58())!;
  expect(own.findings).toEqual([expect.objectContaining({ kind: 'foreign', amount: -100_000_000n })]);
  expect(isBroken(own)).toBe(false);
});

test('npm run ops -- reconcile reads a running stack by its file and reports its findings', async () => {
  const tool = path.resolve(import.meta.dirname, '../../tools/reconcile.ts');
  const { code, stdout } = await new Promise<{ code: number; stdout: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [tool, '--stack', process.env.STACK_FILE!],
      { maxBuffer: 64 * 1024 * 1024 },
      (_error, output) => resolve({ code: child.exitCode!, stdout: output }),
    );
  });
  expect(stdout).toMatch(/^account +name +balance +records +drift/);
  expect(stdout).toMatch(/fee wallet/);
  const [drift, feePayer, read, lacking] = stdout.trimEnd().split('\n').slice(-4);
  expect(drift).toMatch(/^\d+ accounts, 0 with unexplained drift$/);
  expect(feePayer).toMatch(/^fee payer .* unexplained 0$/);
  expect(read).toMatch(/^\d+ transactions were read$/);
  expect(lacking).toBe('no service lacks a record that another one has');
  expect(code).toBe(0);
});
