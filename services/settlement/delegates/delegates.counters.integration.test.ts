import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { batched } from '../../../shared/db/batched.ts';
import { connectPool, type Pool } from '../../../shared/db/pool.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { HASH } from '../../../test/support/fixtures/settlement/settlement.ts';
import { WRONG_DELEGATES } from '../../../test/support/fixtures/settlement/wrong-delegates.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { upsertPayer } from '../payers/store.ts';
import { acceptAttempts, type Candidate } from '../record/store/accept-attempts.ts';
import { type ConsumeRequest, recordConsumptions } from '../record/store/consumptions.ts';
import { recordExpired } from '../record/store/expire.ts';
import {
  type Confirmation,
  recordConfirmed,
  recordFailed,
  recordReopened,
} from '../record/store/record-progress.ts';
import { type RedeemRequest, recordRedeems } from '../record/store/redeem.ts';
import { lockRefundable } from '../record/store/refundable.ts';
import { refundOf } from '../refunds/model.ts';
import { insertReservation, releaseReservation } from '../refunds/store.ts';
import { upsertCaps } from './store.ts';

/**
 * Every statement that changes a counter, in random order and concurrently, on two replicas, over
 * days and the end of a month.
 */
const ROUNDS = 40;
const AT_ONCE = 60;
const HOUR_MS = 3_600_000;
const [account, vendor, service] = [newId('acct'), newId('acct'), newServiceId()];
const delegates = ['d1', 'd2', 'd3', 'd4'];
const payers = ['w1', 'w2', 'w3'].map((wallet_id) => ({
  wallet_id,
  account_id: account,
  owner: `owner of ${wallet_id}`,
  authority: 'authority',
}));

let database: TestDatabase;
let admin: pg.Pool;
let pools: Pool[];
beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=settlement,public',
    max: 1,
  });
  pools = await Promise.all([1, 2].map(() => connectPool(database.url('settlement'), { max: 8 })));
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await admin.end();
  await database.drop();
});

/** The counters that do not add up, computed independently of the code that changes them. */
const WRONG = `
  ${WRONG_DELEGATES}
  union all
  select 'cap of ' || delegate_id from delegates
  where day_held + day_spent > daily or month_held + month_spent > monthly
  union all
  select 'payer ' || p.wallet_id from payers p left join settlements s using (wallet_id)
  group by p.wallet_id having p.held <> coalesce(sum(quote_amount) filter (where holding), 0)
  union all
  select 'refunds of ' || s.settlement_id from settlements s
  left join refund_reservations r on r.settlement_id = s.settlement_id and r.released_at is null
  group by s.settlement_id having s.refund_reserved <> coalesce(sum(r.amount), 0)
  union all
  select 'units of ' || s.settlement_id from settlements s left join consumptions c using (settlement_id)
  group by s.settlement_id having s.units_consumed <> coalesce(sum(c.units), 0)
  union all
  select 'quote ' || quote_id from settlements where status <> 'failed' group by quote_id having count(*) > 1
  union all
  select 'events of ' || s.settlement_id from settlements s left join outbox o on o.payload ->> 'settlement_id' = s.settlement_id
  group by s.settlement_id having count(*) filter (where msg_id like 'job:%') <> 1
    or count(*) filter (where msg_id like 'issued:%') <> (issued_at is not null)::int
    or count(*) filter (where msg_id like 'settlement.redeemed:%') <> (redeemed_at is not null)::int`;

const by = (settlement_id: string, name: string) => ({
  subject: name,
  msgId: `${name}:${settlement_id}`,
  payload: { settlement_id },
  traceparent: null,
});

test('all counters add up under concurrent statements, across midnights and the end of a month, and no statement fails', async () => {
  const replicas = pools.map((pool) => ({
    pool,
    accept: batched((candidates: readonly Candidate[]) => acceptAttempts(pool, candidates)),
    confirm: batched((batch: readonly Confirmation[]) => recordConfirmed(pool, batch), {
      keysOf: ({ progress }) => [progress.object_id],
    }),
    redeem: batched((redeems: readonly RedeemRequest[]) => recordRedeems(pool, redeems), {
      keysOf: ({ settlement_id }) => [settlement_id],
    }),
    consume: batched((draws: readonly ConsumeRequest[]) => recordConsumptions(pool, draws), {
      keysOf: ({ settlement_id }) => [settlement_id],
    }),
  }));
  const ids: string[] = [];
  const generations = new Map<string, number>();
  const refunds = [newId('ref')];
  const seen = new Set<string>();
  const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)]!;
  const oneIn = (number: number) => randomInt(number) === 0;
  let now = Date.UTC(new Date().getUTCFullYear() + 1, 0, 30);
  let slot = 1;
  const see = () =>
    Promise.all(
      payers.map((payer) =>
        upsertPayer(pick(pools), payer, {
          balance: 10_000_000n,
          allowance: 10_000_000n,
          slot: BigInt(slot++),
        }),
      ),
    );

  const candidate = (settlementId: string): Candidate => ({
    attempt: {
      settlementId,
      accountId: account,
      paymentAttemptId: oneIn(10) ? `attempt ${randomInt(20)}` : settlementId,
      delegateId: oneIn(3) ? null : pick(delegates),
      walletId: pick(payers).wallet_id,
      // The statements read the scope of its first part.
      quoteToken: `${Buffer.from('{"scope":null}').toString('base64url')}.signature`,
      claims: {
        quote_id: oneIn(5) && ids.length > 0 ? pick(ids) : settlementId,
        vendor_account_id: vendor,
        service_id: service,
        quote_amount: `${500_000 * randomInt(1, 5)}`,
        fee_amount: '10000',
        redeem_window_seconds: 900,
        scope: oneIn(2) ? { units: 10 } : null,
        expires_at: new Date(now + 1000 * HOUR_MS).toISOString(),
      } as QuoteClaims,
    },
    messages: [by(settlementId, 'job')],
  });
  const confirmation = (settlementId: string): Confirmation => ({
    progress: {
      object_id: settlementId,
      status: oneIn(5) ? 'finalized' : 'confirmed',
      generation: generations.get(settlementId)!,
      tx_hash: HASH[0],
      slot: slot++,
      failure: null,
    },
    issued_at: now,
    redeem_expires_at: now + 24 * HOUR_MS,
    settlement_token: settlementId,
    messages: {
      issued: by(settlementId, 'issued'),
      finalized: by(settlementId, 'finalized'),
      captured: null,
    },
  });
  type Replica = (typeof replicas)[number];
  const token = (settlement_id: string) => ({
    settlement_id,
    service_id: service,
    settlement_token: settlement_id,
    traceparent: null,
  });
  const refund = ({ pool }: Replica, id: string) =>
    pool.transaction(async (tx) => {
      const locked = await lockRefundable(tx, id, { accountId: vendor, serviceId: null });
      const { status, chain_status: chain, net_amount: netMicro, refund_reserved: reservedMicro } = locked!;
      const wanted = refundOf({ status, chain, netMicro, reservedMicro }, oneIn(5) ? null : 200_000n);
      if ('refused' in wanted) return;
      const refundId = oneIn(5) ? pick(refunds) : newId('ref');
      refunds.push(refundId);
      if (await insertReservation(tx, { refundId, settlementId: id, amountMicro: wanted.amountMicro }))
        seen.add('refund');
    });
  const acts: ((replica: Replica, id: string) => Promise<unknown>)[] = [
    async ({ confirm }, id) => (await confirm(confirmation(id))) !== null && seen.add('confirmed'),
    async ({ confirm }, id) => (await confirm(confirmation(id))) !== null && seen.add('confirmed'),
    async ({ pool }, id) => {
      await recordReopened(pool, id, generations.get(id)!);
      if (oneIn(2)) generations.set(id, generations.get(id)! + 1);
    },
    async ({ pool }, id) => {
      const messages = { failed: by(id, 'failed'), reversed: by(id, 'reversed') };
      const why = {
        ...{ generation: generations.get(id)!, code: 'payment_failed', message: 'proven' },
        isIncluded: oneIn(2),
      };
      if (oneIn(2)) seen.add(`failed, events: ${(await recordFailed(pool, id, why, messages)).length}`);
    },
    async ({ pool }) => (await recordExpired(pool, 3)).length > 0 && seen.add('expired'),
    async ({ redeem }, id) =>
      (await redeem({ ...token(id), redeem_id: null })) !== null && seen.add('redeemed'),
    async ({ consume }, id) =>
      (await consume({
        ...token(id),
        request_id: `${randomInt(6)}`,
        units: randomInt(1, 5),
      })) !== null && seen.add('consumed'),
    refund,
    ({ pool }) => releaseReservation(pool, pick(refunds)),
    () => (oneIn(2) ? see() : Promise.resolve()),
  ];
  const step = async (): Promise<void> => {
    const replica = pick(replicas);
    if (!oneIn(3) && ids.length > 0) return void (await pick(acts)(replica, pick(ids.slice(-40))));
    const id = newId('stl');
    const { decision } = await replica.accept(candidate(id));
    seen.add(decision);
    if (decision !== 'accepted') return;
    generations.set(id, 1);
    ids.push(id);
  };

  await see();
  const caps = {
    per_payment: null,
    daily: 3_000_000n,
    monthly: 9_000_000n,
    total: null,
    allowed_service_ids: null,
    external: false,
    external_pay_to: null,
    external_origins: null,
    approval_above: null,
    paused: false,
  };
  for (const delegate_id of delegates) await upsertCaps(pools[0]!, account, { ...caps, delegate_id }, 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    await database.shiftClock(`${now - Date.now()} milliseconds`);
    await Promise.all(Array.from({ length: AT_ONCE }, step));
    expect((await admin.query(WRONG)).rows).toEqual([]);
    now += HOUR_MS * pick([-1, 0, 1, 5, 11, 23]);
  }
  const often = [
    'accepted',
    'quote_settled',
    'over_daily',
    'balance_short',
    'confirmed',
    'redeemed',
    'consumed',
    'refund',
  ];
  for (const what of [...often, 'expired', 'failed, events: 1']) expect([...seen]).toContain(what);
}, 300_000);
