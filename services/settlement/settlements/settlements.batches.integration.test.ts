import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EventName } from '../../../shared/contract/events.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { eventSubject, type Message } from '../../../shared/events/event.ts';
import { verifyToken } from '../../../shared/lib/compact-token.ts';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { waitingForLocks } from '../../../test/support/database.ts';
import {
  admin,
  type DelegateKey,
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
} from '../../../test/support/settlement.ts';
import { consumer } from '../../../test/support/settlement-peers.ts';
import { vendor } from '../../../test/support/settlement-quotes.ts';
import { insertReservation, releaseReservation } from '../refunds/store.ts';
import { settle } from './settle.ts';
import { acceptAttempts } from './store/accept-attempts.ts';
import { recordConsumptions } from './store/consumptions.ts';
import { type Confirmation, recordConfirmed, recordFailed, recordReopened } from './store/record-progress.ts';
import { recordRedeems } from './store/redeem.ts';
import { findForVerify } from './store/settlements.ts';

beforeAll(startFixture, 60_000);
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

test('what is redeemed together: each only by its own service, answered in its order, told in its own trace', async () => {
  const payments = await paidOnes(3);
  const [a, b, c] = payments.map(({ settlementId }) => settlementId);
  const tokens = tokensOf(payments);
  const ask = (settlement_id: string, service_id: string, redeem_id: string | null, digit: string) => ({
    settlement_id,
    service_id,
    settlement_token: tokens.get(settlement_id) ?? tokens.get(a!)!,
    redeem_id,
    traceparent: trace(digit),
  });
  const asked = [
    ask(c!, own, 'c', '3'),
    ask(b!, stranger, 'b', '2'),
    ask(newId('stl'), own, null, '9'),
    ask(a!, own, null, '1'),
  ];
  const withTokenOfC = asked.map((each) => ({ ...each, settlement_token: tokens.get(c!)! }));
  expect((await recordRedeems(deps.pool, withTokenOfC.slice(1))).map((each) => each?.settlement_id)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const redeemed = await recordRedeems(deps.pool, asked);
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
  expect(await recordRedeems(deps.pool, asked)).toEqual([null, null, null, null]);
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

test('a redeem finds its settlements by their ids alone, however many others are open', async () => {
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
  const asked = Array.from({ length: 3 }, () => ({ settlement_id: newId('stl'), service_id: own }));
  const shown = asked.map((each) => ({ ...each, settlement_token: 'none', traceparent: null }));
  const redeems = shown.map((each) => ({ ...each, redeem_id: null }));
  const draws = shown.map((each) => ({ ...each, request_id: 'one', units: 1 }));
  for (const run of [
    (db: Db) => recordRedeems(db, redeems),
    (db: Db) => recordConsumptions(db, draws),
    (db: Db) => findForVerify(db, asked),
  ]) {
    const plan = await explained(run);
    expect(plan).toContain('settlements_pkey');
    expect(plan).not.toMatch(/settlements_(?!pkey)|Seq Scan on settlements/);
  }
});

test('what is drawn together: each only by its own service and once, answered in its order, its redeem told', async () => {
  const payments = await paidOnes(3, 10);
  const [a, b, c] = payments.map(({ settlementId }) => settlementId);
  const tokens = tokensOf(payments);
  const ask = (
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
      { ...ask(a!, own, 'none', 1, '9'), settlement_token: tokens.get(b!)! },
    ]),
  ).toEqual([null]);
  const shown = async (asked: Parameters<typeof recordConsumptions>[1]) =>
    (await recordConsumptions(deps.pool, asked)).map(
      (each) => each && [each.settlement_id, each.units_consumed, each.events.map((row) => row.traceparent)],
    );
  expect(
    await shown([
      ask(c!, own, 'one', 3, '3'),
      ask(b!, stranger, 'one', 1, '2'),
      ask(a!, own, 'one', 10, '1'),
    ]),
  ).toEqual([[c, 3, [trace('3')]], null, [a, 10, [trace('1')]]]);
  // A repeat, the first draw of another, one too many.
  expect(
    await shown([ask(c!, own, 'one', 3, '4'), ask(b!, own, 'one', 1, '5'), ask(a!, own, 'two', 1, '6')]),
  ).toEqual([null, [b, 1, [trace('5')]], null]);
  expect(await shown([ask(c!, own, 'two', 7, '7'), ask(b!, own, 'two', 2, '8')])).toEqual([
    [c, 10, []],
    [b, 3, []],
  ]);
});

/** As little of a message as a statement looks at. */
const message = (name: EventName, settlement_id: string, id: string = name): Message => ({
  subject: eventSubject(name),
  msgId: `${id}:${settlement_id}`,
  payload: { settlement_id },
});

describe('a statement that waits for another of the same payment counts from what that one has left', () => {
  const landing = (settlementId: string, finalized: boolean): Confirmation => {
    const now = deps.clock();
    return {
      settlementId,
      generation: 1,
      txHash: HASH[0],
      slot: 103,
      finalized,
      issuedAt: now,
      redeemExpiresAt: now + 900_000,
      settlementToken: `token of ${settlementId}`,
      messages: {
        issued: message('settlement.finalized', settlementId, 'issued'),
        finalized: message('settlement.finalized', settlementId),
      },
    };
  };
  /** Begins the second while the first holds its locks: its snapshot is from before the first. */
  const during = async <T>(first: (tx: Db) => Promise<unknown>, second: () => Promise<T>): Promise<T> => {
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = deps.pool.transaction(async (tx) => {
      await first(tx);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const waiting = second();
    waiting.catch(() => {});
    await until(
      () => waitingForLocks(admin),
      (waiters) => waiters === 1,
    );
    released.resolve();
    await holding;
    return waiting;
  };
  const counters = async (settlementId: string) => {
    const { rows } = await admin.query(
      `select d.day_held, d.day_spent, d.total_held, d.total_spent, p.held, s.chain_status
      from settlements s join delegates d using (delegate_id) join payers p using (wallet_id) where settlement_id = $1`,
      [settlementId],
    );
    return Object.values(rows[0]).join(' ');
  };

  test('landed again while it is reopened', async () => {
    const { settlementId } = await paid(await delegateOf(consumer()), quote());
    const landed = await during(
      (tx) => recordReopened(tx, settlementId, 1),
      () => recordConfirmed(deps.pool, [landing(settlementId, true)]),
    );
    expect(landed.map((one) => one?.was)).toEqual(['issued']);
    expect(await counters(settlementId)).toBe('0 1000000 0 1000000 0 finalized');
  });

  test('failed while it lands', async () => {
    const { settlementId, answer } = await underWay(await delegateOf(consumer()), quote());
    const failed = await during(
      (tx) => recordConfirmed(tx, [landing(settlementId, false)]),
      () =>
        recordFailed(
          deps.pool,
          settlementId,
          { generation: 1, code: 'payment_failed', message: 'proven' },
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

  test('a refund given up while its amount is reserved', async () => {
    const { settlementId } = await paid(consumer(), quote());
    const refundId = newId('ref');
    await during(
      (tx) => insertReservation(tx, { refundId, settlementId, amountMicro: 400_000n }),
      () => releaseReservation(deps.pool, refundId),
    );
    expect(await row(settlementId)).toMatchObject({ refund_reserved: '0' });
  });

  /** What another replica writes when it accepts the attempt. */
  const acceptElsewhere = async (
    tx: Db,
    q: { quote_token: string },
    {
      account_id,
      wallet_id,
      delegate_id,
    }: Pick<DelegateKey, 'account_id' | 'wallet_id'> & { delegate_id: string | null },
    paymentAttemptId: string,
  ): Promise<string> => {
    const settlementId = newId('stl');
    const attempt = {
      settlementId,
      accountId: account_id,
      paymentAttemptId,
      delegateId: delegate_id,
      walletId: wallet_id,
      quoteToken: q.quote_token,
      claims: verifyToken('quote', q.quote_token, { env: 'test', keys: deps.publicKeys }),
    };
    const [accepted] = await acceptAttempts(tx, [{ attempt, messages: [] }]);
    expect(accepted?.decision).toBe('accepted');
    return settlementId;
  };

  test('rule 3: a repeat that waited for its first call is answered with it, although the limit fits only once', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: 1_000_000n });
    // The wallet's state is known, so that nothing but the delegate's limit refuses.
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

  test('rule 3: the same at the first payment of a wallet that can pay once', async () => {
    const payer = consumer(1_000_000n);
    const wallet_id = (await deps.findWallet(payer.account_id, null))!.wallet_id;
    const q = quote();
    const [locked, released] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    let looks = 0;
    let holding: Promise<unknown> = Promise.resolve();
    const { 'settlement.beforeAccept': nothing } = failpoints;
    // The second look of the repeat: its wallet was looked at, the first call takes the money, uncommitted.
    failpoints['settlement.beforeAccept'] = async () => {
      looks += 1;
      if (looks !== 2) return;
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

  test('rule 3: a refusal waits for what is being accepted: paused beside a first call that has not committed', async () => {
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
