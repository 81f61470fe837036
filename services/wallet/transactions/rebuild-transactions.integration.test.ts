import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Base, closeBase, openBase } from '../../../shared/boot.ts';
import { call } from '../../../shared/bus/call.ts';
import type { Moved } from '../../../shared/contract/funding.ts';
import { settlement } from '../../../shared/contract/index.ts';
import { subscribeInBatches } from '../../../shared/events/batch-consumer.ts';
import type { Consuming } from '../../../shared/events/consume.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  database,
  delegateOf,
  HASH,
  paid,
  publishProgress,
  quote,
  row,
  startFixture,
  stopFixture,
  testBus,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { recordMovements } from './movements.ts';
import { finalized, issued, reversed } from './on-settlement.ts';
import { rebuildTransactions } from './rebuild-transactions.ts';

/**
 * The events and tables of the settlement service itself, with the subscribers and the rebuild of
 * this service.
 */
let base: Base;
let subscription: Consuming;

beforeAll(async () => {
  await startFixture();
  base = await openBase('wallet', {
    CELL: 0,
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: 0,
    LOG_LEVEL: 'fatal',
    NATS_URL: testBus.url,
    NATS_NKEY_SEED: testBus.seedOf('wallet'),
    POSTGRES_URL: database.url('wallet'),
    POSTGRES_POOL: 5,
  });
  const { pool, bus, quarantine } = base;
  const items = { issued, finalized, reversed };
  const batching = { quarantine, batchWindowMs: 20 };
  subscription = subscribeInBatches(bus, settlement, items, recordMovements({ pool }), batching);
});
afterAll(async () => {
  await subscription.stop();
  await closeBase(base);
  await stopFixture();
});

const projected = async () =>
  (
    await admin.query(`
    select object_id, type, status, tx_hash, from_account_id, to_account_id, amount, fee_amount, service_id, delegate_id,
      item, created_at
    from wallet.transactions order by object_id`)
  ).rows as {
    object_id: string;
    status: string;
    tx_hash: string;
    item: string | null;
  }[];
const isSettled = (settlementId: string, chainStatus: string) =>
  until(
    () => row(settlementId),
    ({ chain_status }) => chain_status === chainStatus,
  );
const moved = (n: number): Moved => ({
  type: 'dev_fund',
  object_id: `fund_${String(n).padStart(4, '0')}`,
  status: 'finalized',
  tx_hash: HASH[0],
  amount: '5',
  from_account_id: null,
  to_account_id: newId('acct'),
  service_id: null,
  delegate_id: null,
  item: null,
  created_at: '2026-10-01T00:00:00.000Z',
});

const SCOPES = [
  null,
  { resource: 'https://shop.example/report' },
  { resource: 'https://pay.example/l/1', payment_link: { title: 'Harbour tour' } },
];

test('a rebuild from the owners’ tables gives the same transactions as the events', async () => {
  const buyer = consumer();
  const payments = await atOnce(
    12,
    async (i) =>
      (
        await paid(
          i % 3 === 0 ? await delegateOf(buyer) : buyer,
          quote(1_000_000n, { scope: SCOPES[i % 3]! }),
        )
      ).settlementId,
  );
  const [lost, forked, ...rest] = payments as [string, string, ...string[]];
  const failing = await underWay(buyer);
  await publishProgress(failing.settlementId, 'failed');
  await failing.answer.catch(() => {});
  for (const settlementId of [lost, forked]) await publishProgress(settlementId, 'reopened');
  for (const settlementId of [lost, forked]) await isSettled(settlementId, 'pending');
  await publishProgress(lost, 'failed');
  await publishProgress(forked, 'confirmed', { generation: 2, tx_hash: HASH[1], slot: 140 });
  await isSettled(forked, 'confirmed');
  for (const settlementId of [forked, ...rest.slice(0, 6)])
    await publishProgress(
      settlementId,
      'finalized',
      settlementId === forked ? { generation: 2, tx_hash: HASH[1], slot: 140 } : {},
    );
  const before = await until(
    projected,
    (rows) =>
      rows.filter(({ status }) => status === 'finalized').length === 7 &&
      rows.some(({ status }) => status === 'reversed'),
  );
  expect(before).toHaveLength(12);
  expect(new Set(before.map(({ item }) => item))).toEqual(
    new Set([null, 'https://shop.example/report', 'Harbour tour']),
  );
  expect(before.find(({ object_id }) => object_id === forked)).toMatchObject({
    status: 'finalized',
    tx_hash: HASH[1],
  });
  expect(before.find(({ object_id }) => object_id === lost)).toMatchObject({ status: 'reversed' });

  // A rebuild corrects wrong, missing and invented rows.
  await admin.query(
    `update wallet.transactions set amount = amount + 1, status = 'confirmed', item = 'wrong'`,
  );
  await admin.query('delete from wallet.transactions where object_id = $1', [forked]);
  await admin.query(
    `insert into wallet.transactions (object_id, type, status) values ('stl_none', 'payment', 'finalized')`,
  );
  const rebuilt = await rebuildTransactions(base.pool, {
    listPaid: (page) => call(base.bus, settlement, 'listPaid', page),
    listMoved: async () => [],
  });
  expect(rebuilt).toEqual({ payments: 12, funds: 0 });
  expect(await projected()).toEqual(before);
  expect(before.map(({ object_id }) => object_id)).not.toContain(failing.settlementId);
});

test('every page is read, also after a full one', async () => {
  const all = Array.from({ length: 1000 }, (_, i) => moved(i));
  const cursors: (string | null)[] = [];
  const rebuilt = await rebuildTransactions(base.pool, {
    listPaid: async () => [],
    listMoved: async ({ after, limit }) => {
      cursors.push(after);
      return all.filter(({ object_id }) => after === null || object_id > after).slice(0, limit);
    },
  });
  expect(rebuilt).toEqual({ payments: 0, funds: 1000 });
  expect(cursors).toEqual([null, 'fund_0499', 'fund_0999']);
  expect(await projected()).toHaveLength(1000);
});

test('payments during a rebuild are complete at its end, and none has an older status', async () => {
  const buyer = consumer();
  const ids: string[] = [];
  const paying = atOnce(24, async () => {
    const { settlementId } = await paid(buyer, quote());
    ids.push(settlementId);
    await publishProgress(settlementId, 'finalized');
  });
  const owners = {
    listPaid: (page: { after: string | null; limit: number }) => call(base.bus, settlement, 'listPaid', page),
    listMoved: async () => [],
  };
  for (let i = 0; i < 5; i += 1) await rebuildTransactions(base.pool, owners);
  await paying;
  const mine = await until(
    async () => (await projected()).filter(({ object_id }) => ids.includes(object_id)),
    (rows) => rows.filter(({ status }) => status === 'finalized').length === 24,
  );
  expect(mine).toHaveLength(24);
});
