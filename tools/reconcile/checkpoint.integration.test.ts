import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { oneDatabase } from '../../shared/db/databases.ts';
import { packToken } from '../../shared/lib/tokens/packed-token.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../test/support/fixtures/chain-submitter/submitter.ts';
import { reconcile, reconcileOn } from '../reconcile.ts';
import { isBroken } from './compare.ts';

/** Reconciliation from checkpoints: what it reads again, and that no checkpoint hides a drift. */

let fixture: SubmitterFixture;
let counted: Server;
/** The calls of the chain by their method. */
let calls: Map<string, number>;
let payer: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
  counted = createServer(async (request, response) => {
    const body = await text(request);
    const asked = JSON.parse(body) as { method: string } | { method: string }[];
    for (const { method } of [asked].flat()) calls.set(method, (calls.get(method) ?? 0) + 1);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(fixture.chain.url, { method: 'POST', headers, body });
    response.writeHead(answer.status, headers).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(counted, 'listening');
  payer = await fixture.payer(50_000_000n);
});
beforeEach(() => {
  calls = new Map();
});
afterAll(async () => {
  counted?.closeAllConnections();
  counted?.close();
  await fixture?.stop();
});

const place = () => ({
  environment: 'test',
  databases: oneDatabase(fixture.database.adminUrl),
  rpcUrl: `http://127.0.0.1:${(counted.address() as AddressInfo).port}`,
  mint: fixture.keys.mint,
  feeWallet: fixture.keys.feeWallet.address,
  feePayers: [fixture.keys.feePayer.address],
});

const run = async ({ fromStart = false } = {}) => {
  const result = await reconcileOn(place(), { fromStart });
  expect(result.notKept).toBe(null);
  const broken = result.reports.filter(isBroken);
  return {
    ...result,
    broken,
    kinds: new Set(broken.flatMap(({ findings }) => findings.map(({ kind }) => kind))),
  };
};

/** A paid and recorded settlement, final on the chain. */
const pay = async (): Promise<string> => {
  const quote = fixture.quote({ amount: 1_000_000n, fee: 10_000n });
  const { settlement_id } = await fixture.settle(payer, quote);
  const { tx_hash } = await fixture.events.wait(settlement_id, 'finalized');
  const { admin } = fixture;
  await admin.query(
    `insert into settlement.payers (wallet_id, account_id, owner, authority, balance, allowance, as_of_slot)
     values ($1, $2, $3, $4, 0, 0, 1) on conflict do nothing`,
    [payer.wallet_id, payer.account_id, payer.owner.publicKey.toBase58(), fixture.authority],
  );
  await admin.query(
    `insert into settlement.settlements (settlement_id, account_id, payment_attempt_id, wallet_id, quote_id, quote_token,
       vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, status, chain_status, tx_hash,
       under_way_since, expires_from, settlement_token, issued_at)
     values ($1, $2, $1, $3, $4, $5, 'acct_v', gen_random_uuid(), 1000000, 10000, 900, 'issued', 'finalized', $6, null,
       public.app_now(), '\\x', public.app_now())`,
    [settlement_id, payer.account_id, payer.wallet_id, quote.quote_id, packToken(quote.quote_token), tx_hash],
  );
  return settlement_id;
};

/**
 * What a run from the beginning says, without the checkpoints and the names of foreign transfers.
 */
const summary = (reports: Awaited<ReturnType<typeof run>>['reports']) =>
  reports
    .map(({ account, balance, recorded, drift, unexplained, known }) => ({
      account,
      balance,
      recorded,
      drift,
      unexplained,
      known,
    }))
    .toSorted((a, b) => (a.account < b.account ? -1 : 1));

test('a second run reads only what is new, and says the same as one from the beginning', async () => {
  await pay();
  await pay();
  const first = await run();
  expect(first.broken).toEqual([]);
  expect(calls.get('getTransaction')).toBe(first.transactions);
  expect(first.transactions).toBeGreaterThan(2);

  calls.clear();
  const second = await run();
  expect(second.transactions).toBe(0);
  // One list and one balance of each account and the fee payer, and the checkpoints in one call.
  const accounts = second.reports.length;
  expect(Object.fromEntries(calls)).toEqual({
    getSignatureStatuses: 1,
    getSignaturesForAddress: accounts + 1,
    getAccountInfo: accounts,
    getBalance: 1,
  });
  expect(summary(second.reports)).toEqual(summary(first.reports));

  await pay();
  calls.clear();
  const third = await run();
  expect([third.transactions, calls.get('getTransaction'), third.broken]).toEqual([1, 1, []]);
  expect(summary(third.reports)).toEqual(summary((await reconcile(place())).reports));
});

test('a record that is lost, changed or added before the checkpoint is found', async () => {
  const settlement_id = await pay();
  expect((await run()).broken).toEqual([]);
  const { admin } = fixture;
  const change = async (statement: string, undo: string) => {
    await admin.query(statement, [settlement_id]);
    const found = await run();
    await admin.query(undo, [settlement_id]);
    expect((await run()).broken).toEqual([]);
    return found;
  };
  const amount = await change(
    'update settlement.settlements set quote_amount = 1000001 where settlement_id = $1',
    'update settlement.settlements set quote_amount = 1000000 where settlement_id = $1',
  );
  expect(amount.kinds).toContain('altered');
  const state = await change(
    `update settlement.settlements set chain_status = 'failed', status = 'failed', failure_code = 'payment_failed',
       expires_from = null where settlement_id = $1`,
    `update settlement.settlements set chain_status = 'finalized', status = 'issued', failure_code = null,
       expires_from = public.app_now() where settlement_id = $1`,
  );
  expect(state.kinds).toContain('unrecorded');
  await admin.query(
    'create table settlement.kept as select * from settlement.settlements where settlement_id = $1',
    [settlement_id],
  );
  await admin.query('delete from settlement.settlements where settlement_id = $1', [settlement_id]);
  expect((await run()).kinds).toContain('unrecorded');
  await admin.query('insert into settlement.settlements select * from settlement.kept');
  await admin.query('update settlement.settlements set tx_hash = $2 where settlement_id = $1', [
    settlement_id,
    '5'.repeat(87),
  ]);
  // The same record by a transaction that the chain does not have.
  const moved = await run();
  expect(moved.kinds).toContain('doubled');
  await admin.query(
    `update settlement.settlements s set tx_hash = k.tx_hash from settlement.kept k where s.settlement_id = k.settlement_id`,
  );
  await admin.query('drop table settlement.kept');
  expect((await run()).broken).toEqual([]);
});

test('what the chain took from the fee payer is what is recorded, to the lamport', async () => {
  const settlement_id = await pay();
  const first = (await run({ fromStart: true })).costs[0]!;
  const { paid, recorded, unread, unexplained, findings } = first;
  expect([recorded, unread, unexplained, findings]).toEqual([paid, 0n, 0n, []]);
  expect(paid).toBeGreaterThan(0n);
  // It began with what others have sent to it.
  expect(first.moved - paid).toBe(first.balance);

  const { admin } = fixture;
  const [{ signature }] = (
    await admin.query('select signature from intents where object_id = $1', [settlement_id])
  ).rows;
  const change = (column: string, by: number) =>
    admin.query(`update transactions set ${column} = ${column} + $2 where signature = $1`, [signature, by]);
  for (const column of ['fee_lamports', 'rent_lamports']) {
    await change(column, 1);
    const [wrong] = (await run({ fromStart: true })).costs;
    expect(wrong!.findings).toMatchObject([{ signature }]);
    expect(wrong!.recorded).toBe(paid + 1n);
    await change(column, -1);
  }
  await admin.query('create table kept as select * from transactions where signature = $1', [signature]);
  await admin.query('delete from transactions where signature = $1', [signature]);
  const [lost] = (await run({ fromStart: true })).costs;
  expect(lost!.findings).toMatchObject([{ signature, what: 'it is in no record' }]);
  await admin.query('insert into transactions select * from kept');

  // Of a release before the record of costs: it is no finding.
  await admin.query(
    'update transactions set fee_lamports = null, rent_lamports = null where signature = $1',
    [signature],
  );
  const [before] = (await run({ fromStart: true })).costs;
  expect([before!.findings, before!.recorded + before!.unread]).toEqual([[], paid]);
  await admin.query('delete from transactions where signature = $1', [signature]);
  await admin.query('insert into transactions select * from kept');
  await admin.query('drop table kept');
});

test('a checkpoint of another chain, or of other keys, is not believed', async () => {
  await pay();
  const whole = await run({ fromStart: true });
  expect((await run()).transactions).toBe(0);
  await fixture.admin.query('update chain_submitter.reconcile_checkpoints set slot = slot + 1');
  expect((await run()).transactions).toBe(whole.transactions);
  await fixture.admin.query("update chain_submitter.reconcile_checkpoints set keys_hash = sha256('other')");
  // What was foreign by other keys may be ours.
  const again = await run();
  expect(again.transactions).toBeGreaterThan(0);
  expect(again.broken).toEqual([]);
});

test('the result of each run is kept, and a drift stays reported until it is gone', async () => {
  const settlement_id = await pay();
  const last = async () =>
    (await fixture.admin.query('select * from chain_submitter.reconcile_runs order by run_id desc limit 1'))
      .rows[0];
  await run();
  expect(await last()).toMatchObject({ from_start: false, broken: 0, findings: [] });
  await fixture.admin.query(
    'update settlement.settlements set quote_amount = 1000002 where settlement_id = $1',
    [settlement_id],
  );
  for (const _ of [1, 2]) {
    const { broken } = await run();
    expect(broken.length).toBeGreaterThan(0);
    expect(await last()).toMatchObject({ broken: broken.length });
    expect(JSON.stringify((await last()).findings)).toContain(settlement_id);
  }
  await fixture.admin.query(
    'update settlement.settlements set quote_amount = 1000000 where settlement_id = $1',
    [settlement_id],
  );
  expect((await run()).broken).toEqual([]);
});

test('a role that may only read gets its result, and learns that it is not kept', async () => {
  const role = `reader_${crypto.randomUUID().slice(0, 8)}`;
  const { admin, database } = fixture;
  await admin.query(`create role ${role} login password 'reader' in role pg_read_all_data`);
  await admin.query(`grant connect on database ${new URL(database.adminUrl).pathname.slice(1)} to ${role}`);
  try {
    const url = new URL(database.adminUrl);
    url.username = role;
    url.password = 'reader';
    const result = await reconcileOn({ ...place(), databases: oneDatabase(url.href) }, { fromStart: false });
    expect(result.notKept).toMatch(/may not write/);
    expect(result.reports.filter(isBroken)).toEqual([]);
  } finally {
    await admin.query(`drop owned by ${role}; drop role ${role}`);
  }
});
