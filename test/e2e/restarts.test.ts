import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import pg from 'pg';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { type Api, createApi } from '../../deploy/local/seed/api.ts';
import { allowSpending, type WalletView } from '../../deploy/local/seed/wallet.ts';
import { MAX_DATABASES } from '../../deploy/local/servers/choose-servers.ts';
import { databaseUrl, ensureDatabase, urlAs } from '../../deploy/local/servers/database.ts';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { type RunningServers, startServers } from '../../deploy/local/servers/start-servers.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { type RunningStack, startStack } from '../../deploy/local/stack/stack.ts';
import { type Databases, distinctDatabases, mapDatabases, settingsOf } from '../../shared/db/databases.ts';
import { migrateEnvironment } from '../../shared/db/migrate.ts';
import { roleName } from '../../shared/db/names.ts';
import { placeOf, reconcile, unmatched } from '../../tools/reconcile.ts';
import { openBeforeBackup } from '../support/actors/lost-captures.ts';
import { waitFor } from '../support/base/wait.ts';
import {
  incomingPayment,
  type OtherPayment,
  outcomesOf,
  outgoingPayment,
} from '../support/others/other-rails.ts';
import { runBackup } from '../support/packages/backup-command.ts';
import { opsAt } from '../support/packages/ops.ts';
import { chainOf } from '../support/servers/chain.ts';
import { holdSigning } from '../support/servers/hold-signing.ts';
import { startChain } from '../support/servers/local-chain.ts';
import { testStateDir } from '../support/servers/test-state.ts';

/**
 * Tests that need a restart (docs/operations.md): dump, further payments, loss of everything but
 * the chain, restore, with a Postgres for each service that outlives the stack; and a delegate
 * authority that one restart adds and the next removes.
 */
const stateDir = testStateDir('restore');
const backup = path.join(stateDir, 'backup');
const SLOT_MS = 50;
let servers: RunningServers;
let serverUrls: Databases;
let running: RunningStack;
let vendor: Vendor;
/** Both onboarded while there was one authority. */
let consumer: Consumer;
let mover: Consumer;
const secondAuthority = { number: 2, ...keypair() };

const start = async () => {
  running = await startStack({
    stateDir,
    ports: 'any',
    chainSlotMs: SLOT_MS,
    chainControl: true,
    rateLimitScale: 100,
    durable: false,
    external: { postgresUrls: serverUrls },
  });
};
const api = (): Api => createApi(running.stack.gateway_url);
const databases = () => mapDatabases(serverUrls, (url) => databaseUrl(url, 'quittance_test'));
const query = async (text: string): Promise<Record<string, unknown>[]> => {
  const all = connectDatabases(databases(), { max: 1 });
  try {
    return (await all.query(text)).rows;
  } finally {
    await all.end();
  }
};
beforeAll(async () => {
  servers = await startServers({ stateDir: testStateDir('restore-servers'), databases: MAX_DATABASES });
  serverUrls = servers.postgresUrls;
  await start();
  vendor = await createVendor(api(), running.stack);
  [consumer, mover] = await Promise.all([
    createConsumer(api(), running.stack),
    createConsumer(api(), running.stack),
  ]);
});
afterAll(async () => {
  await running?.stop();
  await servers?.stop();
});

function keypair() {
  const { publicKey, secretKey } = Keypair.generate();
  return { address: publicKey.toBase58(), secretKey: bs58.encode(secretKey) };
}
/** DELEGATE_AUTHORITY_KEYS of the next start. */
const configureAuthorities = (change: (keys: { number: number }[]) => { number: number }[]) => {
  const file = path.join(stateDir, 'keys-test.json');
  const keys = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...keys, delegateAuthorities: change(keys.delegateAuthorities) }));
};

const run = (args: string[], env: Record<string, string> = {}) =>
  runBackup(args, { ...settingsOf(databases()), ...env });
const ops = (...args: string[]) => opsAt(running.stackFile)(...args, '--reason', 'restore', '--yes');
const until = <T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> =>
  waitFor(read, good, 60_000, 100);

/** Stops the blocks of the chain, or lets them go on. */
const pauseChain = (paused: boolean) =>
  fetch(running.stack.environments.test!.rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'chain_clock', params: [{ paused }] }),
  });

/** Long enough to be paid, and expired after the restore. */
const SOON = { expires_in_seconds: 15 };
type Attempt = { id: string; quote: Quote };
const attempt = async (terms: Parameters<typeof quoteOf>[2] = {}): Promise<Attempt> => ({
  id: crypto.randomUUID(),
  quote: await quoteOf(api(), vendor, terms),
});
/** Waits until its quote has expired. */
const expired = async ({ quote }: Attempt) =>
  sleep(Math.max(0, Date.parse(quote.expires_at) - Date.now()) + 500);
/** Repeats the attempt until it is answered with the payment. */
const paid = async ({ id, quote }: Attempt) =>
  (
    await until(
      () => settleWith(api(), consumer.token, quote, id),
      ({ status }) => status === 200,
    )
  ).body;

/** A payment by each of the other rails, of a wallet of its own. */
const otherPayments = (): Promise<OtherPayment[]> => {
  const place = { api, stack: () => running.stack };
  return Promise.all([
    incomingPayment(place, { payer: mover, vendor, rail: 'x402' }),
    incomingPayment(place, { payer: mover, vendor, rail: 'mpp' }),
    outgoingPayment(place, mover, vendor.payout.publicKey.toBase58()),
  ]);
};
/** Payments of the other rails without an outcome. */
const listOpen = () =>
  query(
    `select settlement_id, rail from settlement.settlements
     where rail <> 'quittance' and chain_status = 'pending' order by rail`,
  );
const balanceOf = ({ wallet }: Consumer) =>
  chainOf(running.stack.environments.test as never).balance(wallet.publicKey);

test('after a restore, payments made since the dump are found on the chain and not paid again, or named by reconcile', async () => {
  const before = await Promise.all([attempt(), attempt()]);
  const hashes = new Map<string, string>();
  for (const each of before) hashes.set(each.id, (await paid(each)).tx_hash);
  const others = await otherPayments();
  const otherOutcomes = await outcomesOf(others);

  const tabs = await openBeforeBackup({ api, vendor, query }, mover.token);

  // Accepted before the dump, and signed after it.
  const [held, beside] = await Promise.all([otherPayments(), otherPayments()]);
  const [open, ...around] = await Promise.all([attempt(), attempt(), attempt(), attempt()]);
  await pauseChain(true);
  const sign = await holdSigning(databases()['chain-submitter']);
  const settle = ({ quote, id }: Attempt) => settleWith(api(), consumer.token, quote, id);
  const opening = settle(open!);
  const holding = outcomesOf(held);
  await until(
    () => query(`select from chain_submitter.intents where request->>'payment_attempt_id' = '${open!.id}'`),
    (rows) => rows.length === 1,
  );
  const opened = await until(listOpen, (rows) => rows.length === held.length);
  expect(opened.map(({ rail }) => rail)).toEqual(['mpp', 'x402', 'x402_out']);
  // A few more, between the first and the last row of the dump.
  const calls = around.map(settle);
  const besides = outcomesOf(beside);
  const dumped = await run(['dump', backup]);
  expect(dumped).toMatchObject({ code: 0, out: expect.stringContaining('quittance_test as of') });
  await sign();
  await pauseChain(false);
  await Promise.all([opening, ...calls]);
  others.push(...held, ...beside);
  otherOutcomes.push(...(await holding), ...(await besides));
  expect((await run(['dump', backup])).code).toBe(64);

  const after = await attempt();
  const [lost, ...rest] = [await attempt(), open!, ...around, after];
  hashes.set(lost.id, (await paid(lost)).tx_hash);
  for (const each of rest) hashes.set(each.id, (await paid(each)).tx_hash);
  // These expire before their payer returns. One of them was never paid.
  const [late, unpaid] = [await attempt(SOON), await attempt(SOON)];
  hashes.set(late.id, (await paid(late)).tx_hash);
  const since = await otherPayments();
  others.push(...since);
  otherOutcomes.push(...(await outcomesOf(since)));
  await tabs.capture();
  const movers = await balanceOf(mover);
  const balanceNow = () => balanceOf(consumer);
  const balance = await balanceNow();
  expect(balance).toBe(100_000_000n - BigInt(hashes.size) * BigInt(after.quote.quote_amount));

  // Not while any process runs.
  const rpcUrl = running.stack.environments.test!.rpc_url;
  const reason = ['--reason', 'the disk is gone'];
  const early = await run(['restore', backup, ...reason], { SOLANA_RPC_URLS: rpcUrl });
  expect(early).toMatchObject({ code: 64, out: expect.stringContaining('still connected') });

  // Signed, and not yet in a block when all processes end: the only payment that cannot be queried.
  const flying = await attempt();
  await pauseChain(true);
  const cutOff = settleWith(api(), consumer.token, flying.quote, flying.id).catch(() => {});
  const [signed] = await until(
    () =>
      query(
        `select encode(wire, 'base64') as wire from chain_submitter.transactions join chain_submitter.intents using (intent_id)
         where request->>'payment_attempt_id' = '${flying.id}'`,
      ),
    (rows) => rows.length === 1,
  );
  const bytes = String(signed!.wire).replaceAll('\n', '');

  // Everything but the chain and the keys is lost.
  await running.stop();
  await cutOff;
  const all = connectDatabases(servers.postgresUrls, { max: 1 });
  await all.everywhere('drop database quittance_test with (force)');
  await all.end();
  rmSync(path.join(stateDir, 'nats'), { recursive: true });
  // The copy of seven databases is restored into six.
  serverUrls = { ...serverUrls, webhook: serverUrls.wallet };
  for (const { url } of distinctDatabases(serverUrls)) await ensureDatabase(url, 'quittance_test');
  const { databasePasswords } = environmentKeys(stateDir, 'test');
  await migrateEnvironment({ databases: databases(), passwords: databasePasswords });

  // Interrupted by an unavailable provider: no service can log in until the restore is complete.
  const role = roleName('quittance_test', 'chain-submitter');
  const login = async () => {
    const service = new pg.Client({
      connectionString: urlAs(databases()['chain-submitter'], role, databasePasswords['chain-submitter']),
    });
    await service.connect();
    await service.end();
  };
  await login();
  const unreachable = await run(['restore', backup, ...reason], { SOLANA_RPC_URLS: 'http://127.0.0.1:9' });
  expect(unreachable.code).toBe(1);
  await expect(login()).rejects.toThrow(/not permitted to log in/);

  const chain = await startChain({ slotMs: SLOT_MS, dataDir: path.join(stateDir, 'chain-test') });
  try {
    const height = await chain.call<number>('getBlockHeight', { commitment: 'finalized' });
    const restored = await run(['restore', backup, ...reason], { SOLANA_RPC_URLS: chain.url });
    expect(restored).toMatchObject({ code: 0, out: expect.stringContaining('rows as of') });
    // A blockhash is valid for 150 blocks.
    const then = await chain.call<number>('getBlockHeight', { commitment: 'finalized' });
    expect(then - height).toBeGreaterThan(150);
    // The stored bytes are too old to be included.
    const late = await chain.raw('sendTransaction', bytes, { encoding: 'base64' });
    expect(late.error?.message).toMatch(/blockhash not found|already been processed/i);
  } finally {
    await chain.stop();
  }
  await login();
  // Nothing is in the copy without what it refers to: an intent its payment, a payment its quote.
  expect(await unmatched({ databases: databases() })).toEqual([]);
  const quotes = await query('select quote_id from quote.quotes');
  const own = await query("select quote_id from settlement.settlements where rail = 'quittance'");
  expect(quotes).toEqual(expect.arrayContaining(own));

  // The record of these is in the backup, and that they were signed is not.
  const ids = opened.map(({ settlement_id }) => `'${settlement_id}'`).join(', ');
  const statuses = () =>
    query(`select rail, status from settlement.settlements where settlement_id in (${ids}) order by rail`);
  expect(await statuses()).toEqual(opened.map(({ rail }) => ({ rail, status: 'pending' })));

  configureAuthorities((keys) => [...keys, secondAuthority]);
  await start();
  // Their buyers do not return at first: the services search for them by themselves.
  const swept = async () => {
    await query(
      `update settlement.settlements set progressed_at = progressed_at - interval '5 minutes'
       where settlement_id in (${ids}) and status = 'pending'`,
    );
    return statuses();
  };
  const found = await waitFor(
    swept,
    (rows) => rows.every(({ status }) => status !== 'pending'),
    60_000,
    1000,
  );
  expect(found).toEqual(opened.map(({ rail }) => ({ rail, status: 'issued' })));
  const shown = await opsAt(running.stackFile)('signing', 'show', '--json');
  expect(JSON.parse(shown.out)).toMatchObject({ paused: true });
  await ops('signing', 'resume');

  // Their payers repeat them. Each is answered with the payment that was made.
  for (const each of [...before, ...rest]) expect((await paid(each)).tx_hash).toBe(hashes.get(each.id));
  expect(await outcomesOf(others)).toEqual(otherOutcomes);
  await tabs.end();
  expect(await balanceOf(mover)).toBe(movers);
  // It was included while the stack was stopped.
  expect((await paid(flying)).tx_hash).toBe(bs58.encode(Buffer.from(bytes, 'base64').subarray(1, 65)));
  expect(await balanceNow()).toBe(balance - BigInt(flying.quote.quote_amount));
  // These payers return after their quote has expired: a payment on the chain is adopted, and the
  // others are refused.
  await Promise.all([expired(late), expired(unpaid)]);
  const ask = ({ quote }: Attempt, id: string) => settle({ quote, id });
  expect(await ask(unpaid, unpaid.id)).toMatchObject({
    status: 410,
    body: { error: { code: 'quote_expired', money_moved: 'no', safe_action: 'new_quote' } },
  });
  const { settlement_id, tx_hash } = await paid(late);
  expect(tx_hash).toBe(hashes.get(late.id));
  expect(await ask(late, 'another-id')).toMatchObject({
    status: 409,
    body: { error: { code: 'quote_already_settled', money_moved: 'yes', settlement_id } },
  });
  expect(await balanceNow()).toBe(balance - BigInt(flying.quote.quote_amount));
  expect((await ops('drain', '--seconds', '60')).code).toBe(0);

  // The payments of other payers are found: both sides and the fee, and nothing else.
  const { reports } = await reconcile(placeOf(running.stack, 'test'));
  const findings = reports.flatMap((report) => report.findings);
  expect(findings).toHaveLength(3);
  for (const finding of findings)
    expect(finding).toMatchObject({
      kind: 'unrecorded',
      what: expect.stringContaining(hashes.get(lost.id)!),
    });
  expect(await unmatched(placeOf(running.stack, 'test'))).toEqual([]);
  const [restoredBy] = JSON.parse((await opsAt(running.stackFile)('audit', '--json')).out).filter(
    ({ action }: { action: string }) => action === 'backup.restore',
  );
  expect(restoredBy).toMatchObject({ reason: 'the disk is gone', service: 'chain-submitter' });
}, 300_000);

/** Settles a new quote. */
const pay = async ({ token }: Consumer) => {
  const { status, body } = await settleWith(api(), token, await quoteOf(api(), vendor));
  return status === 200 ? 'paid' : `${status} ${body.error?.code} ${body.error?.money_moved}`;
};
const delegationOf = async ({ token }: Consumer) => {
  const { body } = await api()<{ data: WalletView[] }>('GET /v1/wallets', { token });
  return body.data[0]!.delegation;
};
const approve = ({ token, walletId, wallet }: Consumer) =>
  allowSpending(api(), token, walletId, wallet, 50_000_000n);
const authorities = async () => {
  const { out } = await opsAt(running.stackFile)('authorities', '--json');
  return (JSON.parse(out) as { number: number | null; active: number }[]).map(({ number, active }) => [
    number,
    active,
  ]);
};

test('when an authority is retired, new approvals name the next one, and the other wallets pay until its removal and approve again', async () => {
  expect((await ops('payments', 'resume')).code).toBe(0);
  await waitFor(
    () => pay(consumer),
    (outcome) => outcome === 'paid',
  );
  const newcomer = await createConsumer(api(), running.stack);
  expect(newcomer.view.delegation).toMatchObject({ status: 'active', delegate: secondAuthority.address });
  expect(await Promise.all([newcomer, consumer, mover].map(pay))).toEqual(['paid', 'paid', 'paid']);
  expect(await authorities()).toEqual([
    [2, 1],
    [1, 2],
  ]);
  expect((await approve(mover)).delegation).toMatchObject({
    status: 'active',
    delegate: secondAuthority.address,
  });
  expect(await pay(mover)).toBe('paid');
  expect(await authorities()).toEqual([
    [2, 2],
    [1, 1],
  ]);
  await running.stop();
  configureAuthorities((keys) => keys.filter(({ number }) => number === 2));
  await start();
  expect(await Promise.all([newcomer, mover].map(pay))).toEqual(['paid', 'paid']);
  expect(await pay(consumer)).toBe('409 delegation_inactive no');
  expect(await delegationOf(consumer)).toMatchObject({ status: 'overwritten' });
  expect(await authorities()).toEqual([
    [2, 2],
    [null, 1],
  ]);
  expect((await approve(consumer)).delegation).toMatchObject({ status: 'active' });
  expect(await pay(consumer)).toBe('paid');
  expect(await authorities()).toEqual([[2, 3]]);
});
