import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWaiting } from '../../../shared/bus/wake.ts';
import { settlement } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { type Consuming, subscribe } from '../../../shared/events/consume.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  callAs,
  database,
  delegateOf,
  deps,
  HASH,
  held,
  paid,
  publishProgress,
  quote,
  serviceKey,
  spendingOf,
  startFixture,
  stopFixture,
  storedSnapshot,
  testBus,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { createAcceptedEvents, publishAccepted } from '../core/accepted-events.ts';
import { createTermsCache } from '../core/terms-cache.ts';
import { expireSettlements } from '../delivering/expire-settlements.ts';
import { recordConsumptions } from '../record/store/consumptions.ts';
import { resumeSettlements } from '../settling/resume-settlements.ts';
import { settle } from '../settling/settle.ts';
import { onSettleProgressed } from './on-chain-submitter-settle-progressed.ts';

/** The events as the webhook service receives them: with its rights, parsed by the contract. */
type Published = { name: string; settlement_id: string } & Record<string, unknown>;
const published: Published[] = [];
const unparsed: unknown[] = [];
let subscription: Consuming;
/** In the order of a settlement's states. The events may arrive in another order. */
const NAMES = ['accepted', 'issued', 'finalized', 'failed', 'reversed', 'redeemed', 'expired'] as const;

beforeAll(async () => {
  await startFixture();
  const handlers = Object.fromEntries(
    NAMES.map((name) => [
      name,
      async (event: object) => void published.push({ name, ...event } as Published),
    ]),
  );
  subscription = subscribe(
    await testBus.as('webhook'),
    settlement,
    handlers,
    async (entry) => void unparsed.push(entry),
  );
});
afterAll(async () => {
  await subscription.stop();
  await stopFixture();
  expect(unparsed).toEqual([]);
});

const of = (settlementId: string) => published.filter(({ settlement_id }) => settlement_id === settlementId);
const namesOf = async (settlementId: string, count: number) => {
  const names = await until(
    async () => of(settlementId).map(({ name }) => name),
    ({ length }) => length >= count,
  );
  const place = (name: string) => (NAMES as readonly string[]).indexOf(name);
  return names.toSorted((a, b) => place(a) - place(b));
};
const redeem = ({ settlementId, answer }: Awaited<ReturnType<typeof paid>>, redeem_id?: string) =>
  callAs<{ redeemed_at: string }>(serviceKey, 'redeem', {
    settlement_id: settlementId,
    settlement_token: answer.settlement_token,
    ...(redeem_id && { redeem_id }),
  });
/**
 * Waits for later events of another settlement. A second event of the first would have arrived by
 * then.
 */
const afterAnother = async () => {
  const other = await paid();
  await redeem(other);
  await namesOf(other.settlementId, 2);
};

test('each event names payer, vendor and amounts, and of 64 concurrent redeems only the one that succeeds publishes', async () => {
  const payer = consumer();
  const p = await paid(payer);
  await publishProgress(p.settlementId, 'finalized');
  const [{ redeemed_at }] = (await atOnce(64, (i) => redeem(p, `r${i}`))) as [{ redeemed_at: string }];
  await afterAnother();
  expect(await namesOf(p.settlementId, 3)).toEqual(['issued', 'finalized', 'redeemed']);
  for (const event of of(p.settlementId)) {
    expect(event).toMatchObject({
      account_id: payer.account_id,
      vendor_account_id: vendor.account_id,
      service_id: vendor.service_id,
      delegate_id: null,
      quote_amount: '1000000',
      fee_amount: '10000',
    });
    expect(JSON.stringify(event)).not.toContain(p.answer.settlement_token);
  }
  const last = of(p.settlementId).find(({ name }) => name === 'redeemed')!;
  expect(last).toMatchObject({ redeemed_at, redeem_id: expect.stringMatching(/^r\d+$/) });
});

test('the first consume of a prepaid settlement publishes its redeem, the others publish nothing', async () => {
  const p = await paid(consumer(), quote(1_000_000n, { scope: { units: 5 } }));
  const consume = () =>
    callAs(serviceKey, 'consume', {
      settlement_id: p.settlementId,
      settlement_token: p.answer.settlement_token,
      units: 1,
      request_id: newId('evt'),
    });
  await atOnce(5, consume);
  await afterAnother();
  expect(await namesOf(p.settlementId, 2)).toEqual(['issued', 'redeemed']);
  expect(of(p.settlementId).find(({ name }) => name === 'redeemed')).toMatchObject({ redeem_id: null });
  // The stream drops a second message of the same id, so the test counts the statement's rows.
  const other = await paid(consumer(), quote(1_000_000n, { scope: { units: 2 } }));
  const consumeOne = async () => {
    const [consumed] = await recordConsumptions(deps.pool, [
      {
        settlement_id: other.settlementId,
        service_id: vendor.service_id,
        settlement_token: other.answer.settlement_token!,
        request_id: newId('evt'),
        units: 1,
        traceparent: null,
      },
    ]);
    return consumed!.events.length;
  };
  expect([await consumeOne(), await consumeOne()]).toEqual([1, 0]);
});

/** Metadata of 4,000 bytes whose base64url has both characters that base64 spells otherwise. */
const metadata = { order: 'A-17', text: 'ÿþ?>~ü€😀'.repeat(200), nested: { list: [1, null, 'x'], at: 1.5 } };

test('only a payment that takes longer than 2 s publishes that it was accepted', async () => {
  const [slow, endedElsewhere] = [await underWay(consumer()), await underWay(consumer())];
  const elsewhere = onSettleProgressed({ ...deps, accepted: createAcceptedEvents() });
  const confirmed = {
    generation: 1,
    status: 'confirmed' as const,
    tx_hash: HASH[0],
    slot: 101,
    failure: null,
  };
  await elsewhere({ ...confirmed, object_id: endedElsewhere.settlementId });
  await publishAccepted(deps)();
  expect(of(slow.settlementId)).toEqual([]);
  await until(async () => {
    await publishAccepted(deps)();
    return deps.accepted.isEmpty();
  }, Boolean);
  await publishProgress(slow.settlementId, 'confirmed');
  expect(await namesOf(slow.settlementId, 2)).toEqual(['accepted', 'issued']);
  expect(of(slow.settlementId)[0]).toMatchObject({
    vendor_account_id: vendor.account_id,
    quote_amount: '1000000',
    fee_amount: '10000',
  });
  expect(await namesOf(endedElsewhere.settlementId, 1)).toEqual(['issued']);
});

test('the second dispatch of a payment publishes what a replica that stopped has held', async () => {
  const { settlementId, answer } = await underWay(consumer());
  deps.accepted.drop(settlementId);
  await database.withClock('16 seconds', resumeSettlements(deps));
  expect(await namesOf(settlementId, 1)).toEqual(['accepted']);
  await publishProgress(settlementId, 'failed');
  await answer.catch(() => {});
  expect(await namesOf(settlementId, 2)).toEqual(['accepted', 'failed']);
});

test('every event of an ended payment has the scope of its quote, whatever replica or statement makes it', async () => {
  const payed = () => paid(consumer(), quote(1_000_000n, { scope: metadata, window: 30 }));
  const [redeemed, expired, lost] = [await payed(), await payed(), await payed()];
  const elsewhere = onSettleProgressed({ ...deps, terms: createTermsCache() });
  const { settlementId: object_id } = redeemed;
  await elsewhere({
    object_id,
    generation: 1,
    status: 'finalized',
    tx_hash: HASH[0],
    slot: 101,
    failure: null,
  });
  await redeem(redeemed);
  await publishProgress(lost.settlementId, 'failed');
  // The process reads the clock once a second, so the test before may have moved what it issues.
  await database.withClock('62 seconds', expireSettlements(deps));
  for (const [{ settlementId }, names] of [
    [redeemed, ['issued', 'finalized', 'redeemed']],
    [expired, ['issued', 'expired']],
    [lost, ['issued', 'failed', 'reversed']],
  ] as const) {
    await namesOf(settlementId, names.length);
    const scopes = Object.fromEntries(of(settlementId).map(({ name, scope }) => [name, scope]));
    expect(scopes).toEqual(Object.fromEntries(names.map((name) => [name, metadata])));
  }
});

test('three concurrent replicas publish each expired settlement once, and no redeemed one', async () => {
  const window = { window: 30 };
  const [redeemed, ...elapsed] = await atOnce(9, () => paid(consumer(), quote(1_000_000n, window)));
  await redeem(redeemed!);
  // With a later clock, the sweep would publish again what is published and not yet deleted.
  await until(
    () => admin.query('select from outbox'),
    ({ rowCount }) => rowCount === 0,
  );
  // A row that another statement has locked is left to the next round, as in production.
  const round = () => atOnce(3, () => expireSettlements(deps)());
  // The process reads the clock once a second, so the test before may have moved what it issues.
  await database.withClock('62 seconds', async () => [await round(), await round()]);
  await afterAnother();
  for (const { settlementId } of elapsed) {
    expect(await namesOf(settlementId, 2)).toEqual(['issued', 'expired']);
    expect(of(settlementId).find(({ name }) => name === 'expired')).toMatchObject({
      redeem_expires_at: expect.stringMatching(/\.\d{3}Z$/),
    });
  }
  expect(await namesOf(redeemed!.settlementId, 2)).toEqual(['issued', 'redeemed']);
});

test('the events of a failure and a reversal also name the vendor', async () => {
  const [failing, lost] = [await underWay(consumer()), await paid()];
  await publishProgress(failing.settlementId, 'failed', {
    failure: { code: 'insufficient_funds', message: 'the balance is too small' },
  });
  await failing.answer.catch(() => {});
  await publishProgress(lost.settlementId, 'failed');
  expect(await namesOf(failing.settlementId, 1)).toEqual(['failed']);
  expect(await namesOf(lost.settlementId, 3)).toEqual(['issued', 'failed', 'reversed']);
  for (const event of [...of(failing.settlementId), ...of(lost.settlementId)])
    expect(event).toMatchObject({ vendor_account_id: vendor.account_id });
});

test('payments confirmed in one batch are recorded and published once each, although two replicas receive each event twice', async () => {
  const wallets = Array.from({ length: 3 }, () => consumer(100_000_000n));
  const delegate = await delegateOf(wallets[0]!);
  const payers: Principal[] = [...wallets, delegate];
  for (const payer of payers) await paid(payer as typeof delegate);
  const accept = settle(deps);
  const pay = (payer: Principal) =>
    accept({ quote_token: quote().quote_token, payment_attempt_id: newId('evt') }, payer as typeof delegate);
  const before = await spendingOf(delegate);

  const waiting = atOnce(40, (i) => pay(payers[i % 4]!));
  const ids = (await waiting).map(({ settlement_id }) => settlement_id);
  const replicas = [onSettleProgressed(deps), onSettleProgressed(deps)];
  const progressOf = (object_id: string, status: 'confirmed' | 'finalized') => ({
    object_id,
    status,
    generation: 1,
    tx_hash: HASH[0],
    slot: 101,
    failure: null,
  });
  const meanwhile = atOnce(40, (i) => pay(payers[i % 4]!));
  await Promise.all(
    [...ids, ...ids.toReversed()].flatMap((id, i) => [
      replicas[i % 2]!(progressOf(id, 'confirmed')),
      replicas[(i + 1) % 2]!(progressOf(id, i < ids.length ? 'confirmed' : 'finalized')),
    ]),
  );
  const pending = await meanwhile;
  for (const id of ids) expect(tally(await namesOf(id, 2))).toEqual({ finalized: 1, issued: 1 });
  expect(tally(pending.map(({ status }) => status))).toEqual({ pending: 40 });

  // Ten payments of each payer are confirmed, ten are held. The delegate pays from the first
  // wallet.
  for (const [index, wallet] of wallets.entries()) {
    const both = index === 0 ? 2n : 1n;
    expect(await held(wallet)).toBe(10_000_000n * both);
    const left = `${100_000_000n - 11_000_000n * both}`;
    expect(await storedSnapshot(wallet)).toEqual({ balance: left, allowance: left });
  }
  expect(before.usage.total).toMatchObject({ held: '0', spent: '1000000' });
  expect((await spendingOf(delegate)).usage.total).toMatchObject({ held: '10000000', spent: '11000000' });
});

test('the replica that gets the event wakes the request on whichever replica accepted it, and a repeat on another replica polls', async () => {
  const payer = consumer();
  const elsewhere = onSettleProgressed({ ...deps, terms: createTermsCache() });
  const [first, second] = [quote(), quote()];
  const call = (q: { quote_token: string }) =>
    settle({ ...deps, settleWaitMs: 20_000 })({ ...q, payment_attempt_id: newId('evt') }, payer);
  const progress = {
    generation: 1,
    status: 'confirmed' as const,
    tx_hash: HASH[0],
    slot: 101,
    failure: null,
  };
  const idOf = async ({ quote_id }: { quote_id: string }) =>
    (
      await until(
        () => admin.query('select settlement_id from settlements where quote_id = $1', [quote_id]),
        ({ rowCount }) => rowCount === 1,
      )
    ).rows[0].settlement_id as string;

  const answer = call({ quote_token: first.quote_token });
  await elsewhere({ ...progress, object_id: await idOf(first) });
  expect((await answer).status).toBe('confirmed');

  // The replica that accepted the request gets the event and wakes no other. A repeat there polls.
  const accepting = { ...deps, terms: createTermsCache(), settleWaitMs: 20_000 };
  const input = { quote_token: second.quote_token, payment_attempt_id: newId('evt') };
  const original = settle(accepting)(input, payer);
  const id = await idOf(second);
  const otherReplica = createWaiting(await testBus.as('settlement'), 'settlement');
  let waits: string[] = [];
  let reads = 0;
  const countingPool = {
    ...deps.pool,
    many: (async (query: Parameters<typeof deps.pool.many>[0]) => {
      const found = await deps.pool.many(query);
      reads += 1;
      return found;
    }) as typeof deps.pool.many,
  };
  const recording: typeof otherReplica = {
    ...otherReplica,
    until: (key, timeoutMs) => {
      waits = [...waits, key];
      return otherReplica.until(key, timeoutMs);
    },
  };
  const repeat = settle({ ...deps, waiting: recording, pool: countingPool, settleWaitMs: 600_000 })(
    input,
    payer,
  );
  await until(
    async () => waits,
    (keys) => keys.includes(id),
  );
  // It has registered and read the row. The event comes after that.
  await until(
    async () => reads,
    (count) => count > 0,
  );
  await onSettleProgressed(accepting)({ ...progress, object_id: id });
  expect(await repeat).toEqual(await original);
});
