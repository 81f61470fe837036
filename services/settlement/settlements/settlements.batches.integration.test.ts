import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EventName } from '../../../shared/contract/events.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { eventSubject, type Message } from '../../../shared/events/event.ts';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  admin,
  delegateOf,
  deps,
  HASH,
  outcome,
  paid,
  pay,
  quote,
  row,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { acceptElsewhere, during } from '../../../test/support/fixtures/settlement-races.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';
import { recordConsumptions } from '../record/store/consumptions.ts';
import {
  type Confirmation,
  recordConfirmed,
  recordFailed,
  recordReopened,
} from '../record/store/record-progress.ts';
import { recordRedeems } from '../record/store/redeem.ts';
import { findForVerify } from '../record/store/settlements.ts';
import { recordUses } from '../record/store/uses.ts';
import { insertReservation, releaseReservation } from '../refunds/store.ts';
import { settle } from '../settling/settle.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const own = vendor.service_id;
const stranger = newServiceId();
const paidOnes = (count: number, units?: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      paid(consumer(), quote(1_000_000n, units === undefined ? {} : { scope: { units } })),
    ),
  );
const tokensOf = (payments: Awaited<ReturnType<typeof paidOnes>>) =>
  new Map(payments.map(({ settlementId, answer }) => [settlementId, answer.settlement_token!]));

test('a batch of redeems: each by its own service only, answered in order, published in its own trace', async () => {
  const payments = await paidOnes(3);
  const [a, b, c] = payments.map(({ settlementId }) => settlementId);
  const tokens = tokensOf(payments);
  const request = (settlement_id: string, service_id: string, redeem_id: string | null, digit: string) => ({
    settlement_id,
    service_id,
    settlement_token: tokens.get(settlement_id) ?? tokens.get(a!)!,
    redeem_id,
    traceparent: trace(digit),
  });
  const requests = [
    request(c!, own, 'c', '3'),
    request(b!, stranger, 'b', '2'),
    request(newId('stl'), own, null, '9'),
    request(a!, own, null, '1'),
  ];
  const withTokenOfC = requests.map((each) => ({ ...each, settlement_token: tokens.get(c!)! }));
  expect((await recordRedeems(deps.pool, withTokenOfC.slice(1))).map((each) => each?.settlement_id)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const redeemed = await recordRedeems(deps.pool, requests);
  expect(redeemed.map((each) => each && [each.settlement_id, each.traceparent])).toEqual([
    [c, trace('3')],
    null,
    null,
    [a, trace('1')],
  ]);
  expect(redeemed.map((each) => each?.payload)).toMatchObject([
    { settlement_id: c, redeem_id: 'c' },
    undefined,
    undefined,
    { settlement_id: a, redeem_id: null },
  ] as object[]);
  expect(await recordRedeems(deps.pool, requests)).toEqual([null, null, null, null]);
  const seen = await findForVerify(
    deps.pool,
    [a, b, c, b].map((settlement_id, i) => ({
      settlement_id: settlement_id!,
      service_id: i === 3 ? stranger : own,
    })),
  );
  expect(seen.map((row) => row && [row.settlement_id, row.status])).toEqual([
    [a, 'redeemed'],
    [b, 'issued'],
    [c, 'redeemed'],
    null,
  ]);
});

test('a redeem finds its settlements by their ids only, however many others are open', async () => {
  const explained = async (run: (db: Db) => Promise<unknown>): Promise<string> => {
    let plan: readonly string[] = [];
    const any = (async (query: Parameters<Db['any']>[0]) => {
      const Line = z.object({ 'QUERY PLAN': z.string() });
      plan = await deps.pool.anyFirst(sql.type(Line)`explain ${query}`);
      return [];
    }) as unknown as Db['any'];
    await run({ ...deps.pool, any });
    return plan.join('\n');
  };
  const requests = Array.from({ length: 3 }, () => ({ settlement_id: newId('stl'), service_id: own }));
  const shown = requests.map((each) => ({ ...each, settlement_token: 'none', traceparent: null }));
  const redeems = shown.map((each) => ({ ...each, redeem_id: null }));
  const consumes = shown.map((each) => ({ ...each, request_id: 'one', units: 1 }));
  const uses = shown.map((each) => ({ ...each, uses: [{ usage_id: 'one', amount: '1' }] }));
  for (const run of [
    (db: Db) => recordRedeems(db, redeems),
    (db: Db) => recordConsumptions(db, consumes),
    (db: Db) => recordUses(db, uses),
    (db: Db) => findForVerify(db, requests),
  ]) {
    const plan = await explained(run);
    expect(plan).toContain('settlements_pkey');
    expect(plan).not.toMatch(
      /(?:settlements|authorizations)_(?!pkey)|Seq Scan on (?:settlements|authorizations)/,
    );
  }
});

test('a batch of consumes: each by its own service only and once, answered in order, with its redeem published', async () => {
  const payments = await paidOnes(3, 10);
  const [a, b, c] = payments.map(({ settlementId }) => settlementId);
  const tokens = tokensOf(payments);
  const request = (
    settlement_id: string,
    service_id: string,
    request_id: string,
    units: number,
    digit: string,
  ) => ({
    settlement_id,
    service_id,
    settlement_token: tokens.get(settlement_id)!,
    request_id,
    units,
    traceparent: trace(digit),
  });
  expect(
    await recordConsumptions(deps.pool, [
      { ...request(a!, own, 'none', 1, '9'), settlement_token: tokens.get(b!)! },
    ]),
  ).toEqual([null]);
  const shown = async (requests: Parameters<typeof recordConsumptions>[1]) =>
    (await recordConsumptions(deps.pool, requests)).map(
      (each) =>
        each && [each.settlement_id, Number(each.units_consumed), each.events.map((row) => row.traceparent)],
    );
  expect(
    await shown([
      request(c!, own, 'one', 3, '3'),
      request(b!, stranger, 'one', 1, '2'),
      request(a!, own, 'one', 10, '1'),
    ]),
  ).toEqual([[c, 3, [trace('3')]], null, [a, 10, [trace('1')]]]);
  // A repeat, the first request of another settlement, and one unit too many.
  expect(
    await shown([
      request(c!, own, 'one', 3, '4'),
      request(b!, own, 'one', 1, '5'),
      request(a!, own, 'two', 1, '6'),
    ]),
  ).toEqual([null, [b, 1, [trace('5')]], null]);
  expect(await shown([request(c!, own, 'two', 7, '7'), request(b!, own, 'two', 2, '8')])).toEqual([
    [c, 10, []],
    [b, 3, []],
  ]);
});

/** Returns the fields of a message that a statement reads. */
const message = (name: EventName, settlement_id: string, id: string = name): Message => ({
  subject: eventSubject(name),
  msgId: `${id}:${settlement_id}`,
  payload: { settlement_id },
});

describe('a statement that waits for another of the same payment computes from the rows that the other has committed', () => {
  const confirmation = (settlementId: string, finalized: boolean): Confirmation => {
    const now = deps.clock();
    return {
      progress: {
        object_id: settlementId,
        status: finalized ? 'finalized' : 'confirmed',
        generation: 1,
        tx_hash: HASH[0],
        slot: 103,
        failure: null,
      },
      issued_at: now,
      redeem_expires_at: now + 900_000,
      settlement_token: `token of ${settlementId}`,
      messages: {
        issued: message('settlement.finalized', settlementId, 'issued'),
        finalized: message('settlement.finalized', settlementId),
        captured: null,
      },
    };
  };
  const counters = async (settlementId: string) => {
    const { rows } = await admin.query(
      `select d.day_held, d.day_spent, d.total_held, d.total_spent, p.held, s.chain_status
      from settlements s join delegates d using (delegate_id) join payers p using (wallet_id) where settlement_id = $1`,
      [settlementId],
    );
    return Object.values(rows[0]).join(' ');
  };

  test('confirmed again while it is reopened', async () => {
    const { settlementId } = await paid(await delegateOf(consumer()), quote());
    const confirmed = await during(
      (tx) => recordReopened(tx, settlementId, 1),
      () => recordConfirmed(deps.pool, [confirmation(settlementId, true)]),
    );
    expect(confirmed.map((one) => one?.was)).toEqual(['issued']);
    expect(await counters(settlementId)).toBe('0 1000000 0 1000000 0 finalized');
  });

  test('failed while it is confirmed', async () => {
    const { settlementId, answer } = await underWay(await delegateOf(consumer()), quote());
    const failed = await during(
      (tx) => recordConfirmed(tx, [confirmation(settlementId, false)]),
      () =>
        recordFailed(
          deps.pool,
          settlementId,
          { generation: 1, code: 'payment_failed', message: 'proven', isIncluded: false },
          {
            failed: message('settlement.failed', settlementId),
            reversed: message('settlement.reversed', settlementId),
          },
        ),
    );
    expect(failed).toHaveLength(2);
    expect(await counters(settlementId)).toBe('0 0 0 0 0 failed');
    await outcome(answer);
  });

  test('a refund released while its amount is reserved', async () => {
    const { settlementId } = await paid(consumer(), quote());
    const refundId = newId('ref');
    await during(
      (tx) => insertReservation(tx, { refundId, settlementId, amountMicro: 400_000n }),
      () => releaseReservation(deps.pool, refundId),
    );
    expect(await row(settlementId)).toMatchObject({ refund_reserved: '0' });
  });

  test('rule 3: a repeat that waited for its first call is answered with it, although the limit allows one payment', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: 1_000_000n });
    // The wallet has a snapshot, so only the delegate's limit refuses.
    await paid(payer, quote(1n + 20_000n));
    const q = quote();
    let first = '';
    const answer = await during(
      async (tx) => {
        first = await acceptElsewhere(tx, q, delegate, 'hedged');
      },
      () => pay(delegate, q, 'hedged'),
    );
    expect(answer).toEqual({ settlement_id: first, status: 'pending', tx_hash: null });
  });

  test('rule 3: the same for the first payment of a wallet that can pay once', async () => {
    const payer = consumer(1_000_000n);
    const wallet_id = (await deps.findWallet(payer.account_id, null))!.wallet_id;
    const q = quote();
    const [locked, released] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    let evaluations = 0;
    let holding: Promise<unknown> = Promise.resolve();
    const { 'settlement.beforeAccept': nothing } = failpoints;
    // In the repeat's second evaluation its snapshot is new, and the first call holds the amount
    // without having committed.
    failpoints['settlement.beforeAccept'] = async () => {
      evaluations += 1;
      if (evaluations !== 2) return;
      holding = deps.pool.transaction(async (tx) => {
        locked.resolve(
          await acceptElsewhere(
            tx,
            q,
            { account_id: payer.account_id, wallet_id, delegate_id: null },
            'first',
          ),
        );
        await released.promise;
      });
      await locked.promise;
    };
    try {
      const answer = settle(deps)({ quote_token: q.quote_token, payment_attempt_id: 'first' }, payer);
      answer.catch(() => {});
      const first = await locked.promise;
      await until(
        () => waitingForLocks(admin),
        (waiters) => waiters === 1,
      );
      released.resolve();
      await holding;
      expect(await answer).toEqual({ settlement_id: first, status: 'pending', tx_hash: null });
    } finally {
      failpoints['settlement.beforeAccept'] = nothing;
    }
  });

  test('rule 3: a refusal waits for running acceptances: payments are paused while a first call has not committed', async () => {
    const payer = consumer();
    await paid(payer, quote());
    const wallet_id = (await deps.findWallet(payer.account_id, null))!.wallet_id;
    const q = quote();
    let first = '';
    const answer = await during(
      async (tx) => {
        first = await acceptElsewhere(
          tx,
          q,
          { account_id: payer.account_id, wallet_id, delegate_id: null },
          'waits',
        );
      },
      () =>
        settle({ ...deps, isPaused: async () => true })(
          { quote_token: q.quote_token, payment_attempt_id: 'waits' },
          payer,
        ),
    );
    expect(answer).toEqual({ settlement_id: first, status: 'pending', tx_hash: null });
  });
});
