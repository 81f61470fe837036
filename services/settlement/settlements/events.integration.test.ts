import { setTimeout as sleep } from 'node:timers/promises';
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
} from '../../../test/support/settlement.ts';
import { consumer } from '../../../test/support/settlement-peers.ts';
import { vendor } from '../../../test/support/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { expireSettlements } from './expire-settlements.ts';
import { onSettleProgressed } from './on-chain-submitter-settle-progressed.ts';
import { settle } from './settle.ts';
import { recordConsumptions } from './store/consumptions.ts';
import { createTermsCache } from './terms-cache.ts';

/** What is told of a settlement, as the service that tells accounts hears it: parsed by the contract, by its own rights. */
type Told = { name: string; settlement_id: string } & Record<string, unknown>;
const told: Told[] = [];
const unread: unknown[] = [];
let subscription: Consuming;
/** In the order of a life: facts overtake one another on their way. */
const NAMES = ['accepted', 'issued', 'finalized', 'failed', 'reversed', 'redeemed', 'expired'] as const;

beforeAll(async () => {
  await startFixture();
  const handlers = Object.fromEntries(
    NAMES.map((name) => [name, async (fact: object) => void told.push({ name, ...fact } as Told)]),
  );
  subscription = subscribe(
    await testBus.as('webhook'),
    settlement,
    handlers,
    async (entry) => void unread.push(entry),
  );
}, 60_000);
afterAll(async () => {
  await subscription.stop();
  await stopFixture();
  expect(unread).toEqual([]);
});

const of = (settlementId: string) => told.filter(({ settlement_id }) => settlement_id === settlementId);
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
/** Later facts of another settlement: by then a second telling of the first would have come. */
const afterAnother = async () => {
  const other = await paid();
  await redeem(other);
  await namesOf(other.settlementId, 3);
};

test('every fact says who pays whom and how much; 64 redeems at once are told once, with what won', async () => {
  const payer = consumer();
  const p = await paid(payer);
  await publishProgress(p.settlementId, 'finalized');
  const [{ redeemed_at }] = (await atOnce(64, (i) => redeem(p, `r${i}`))) as [{ redeemed_at: string }];
  await afterAnother();
  expect((await namesOf(p.settlementId, 4)).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'accepted',
    'finalized',
    'issued',
    'redeemed',
  ]);
  for (const fact of of(p.settlementId)) {
    expect(fact).toMatchObject({
      account_id: payer.account_id,
      vendor_account_id: vendor.account_id,
      service_id: vendor.service_id,
      delegate_id: null,
      quote_amount: '1000000',
      fee_amount: '10000',
    });
    expect(JSON.stringify(fact)).not.toContain(p.answer.settlement_token);
  }
  const last = of(p.settlementId).find(({ name }) => name === 'redeemed')!;
  expect(last).toMatchObject({ redeemed_at, redeem_id: expect.stringMatching(/^r\d+$/) });
});

test('of a prepaid settlement the first consume is told as its redeem, the others are not', async () => {
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
  expect(await namesOf(p.settlementId, 3)).toEqual(['accepted', 'issued', 'redeemed']);
  expect(of(p.settlementId).find(({ name }) => name === 'redeemed')).toMatchObject({ redeem_id: null });
  // The stream would drop a second message of the same id; here there is none.
  const other = await paid(consumer(), quote(1_000_000n, { scope: { units: 2 } }));
  const draw = async () => {
    const [drawn] = await recordConsumptions(deps.pool, [
      {
        settlement_id: other.settlementId,
        service_id: vendor.service_id,
        settlement_token: other.answer.settlement_token!,
        request_id: newId('evt'),
        units: 1,
        traceparent: null,
      },
    ]);
    return drawn!.events.length;
  };
  expect([await draw(), await draw()]).toEqual([1, 0]);
});

test('settlements past their window are told once by three replicas at once; those redeemed are not', async () => {
  const window = { window: 30 };
  const [redeemed, ...elapsed] = await atOnce(9, () => paid(consumer(), quote(1_000_000n, window)));
  await redeem(redeemed!);
  await database.withClock('31 seconds', () => atOnce(3, () => expireSettlements(deps)()));
  await afterAnother();
  for (const { settlementId } of elapsed) {
    expect(await namesOf(settlementId, 3)).toEqual(['accepted', 'issued', 'expired']);
    expect(of(settlementId).find(({ name }) => name === 'expired')).toMatchObject({
      redeem_expires_at: expect.stringMatching(/\.\d{3}Z$/),
    });
  }
  expect(await namesOf(redeemed!.settlementId, 3)).toEqual(['accepted', 'issued', 'redeemed']);
});

test('a failure and a reversal say who is concerned as well', async () => {
  const [failing, lost] = [await underWay(consumer()), await paid()];
  await publishProgress(failing.settlementId, 'failed', {
    failure: { code: 'insufficient_funds', message: 'the balance is too small' },
  });
  await failing.answer.catch(() => {});
  await publishProgress(lost.settlementId, 'failed');
  expect(await namesOf(failing.settlementId, 2)).toEqual(['accepted', 'failed']);
  expect((await namesOf(lost.settlementId, 4)).slice(2)).toEqual(['failed', 'reversed']);
  for (const fact of [...of(failing.settlementId), ...of(lost.settlementId)])
    expect(fact).toMatchObject({ vendor_account_id: vendor.account_id });
});

test('what lands together is recorded and told once each, while two replicas hear every fact twice and others settle', async () => {
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
  const landed = (object_id: string, status: 'confirmed' | 'finalized') => ({
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
      replicas[i % 2]!(landed(id, 'confirmed')),
      replicas[(i + 1) % 2]!(landed(id, i < ids.length ? 'confirmed' : 'finalized')),
    ]),
  );
  const pending = await meanwhile;
  for (const id of ids) expect(tally(await namesOf(id, 3))).toEqual({ accepted: 1, finalized: 1, issued: 1 });
  expect(tally(pending.map(({ status }) => status))).toEqual({ pending: 40 });

  // Ten of each payer are paid, ten are held; the delegate pays from the first wallet.
  for (const [index, wallet] of wallets.entries()) {
    const both = index === 0 ? 2n : 1n;
    expect(await held(wallet)).toBe(10_000_000n * both);
    const left = `${100_000_000n - 11_000_000n * both}`;
    expect(await storedSnapshot(wallet)).toEqual({ balance: left, allowance: left });
  }
  expect(before.usage.total).toMatchObject({ held: '0', spent: '1000000' });
  expect((await spendingOf(delegate)).usage.total).toMatchObject({ held: '10000000', spent: '11000000' });
}, 60_000);

test('a request is woken by the replica that hears the fact, wherever it was accepted, and a repeat that waits elsewhere reads again', async () => {
  const payer = consumer();
  const elsewhere = onSettleProgressed({ ...deps, terms: createTermsCache() });
  const [first, second] = [quote(), quote()];
  const ask = (q: { quote_token: string }) =>
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

  const told = ask({ quote_token: first.quote_token });
  await elsewhere({ ...progress, object_id: await idOf(first) });
  expect((await told).status).toBe('confirmed');

  // The fact is heard where the request was accepted, so nobody else is told: a repeat there reads for itself.
  const accepting = { ...deps, terms: createTermsCache(), settleWaitMs: 20_000 };
  const input = { quote_token: second.quote_token, payment_attempt_id: newId('evt') };
  const original = settle(accepting)(input, payer);
  const id = await idOf(second);
  const otherReplica = createWaiting(await testBus.as('settlement'), 'settlement');
  let waits: string[] = [];
  const noting: typeof otherReplica = {
    ...otherReplica,
    until: (key, timeoutMs) => {
      waits = [...waits, key];
      return otherReplica.until(key, timeoutMs);
    },
  };
  const repeat = settle({ ...deps, waiting: noting, settleWaitMs: 600_000 })(input, payer);
  await until(
    async () => waits,
    (keys) => keys.includes(id),
  );
  // It has registered and reads; what it waits for comes after that.
  await sleep(200);
  await onSettleProgressed(accepting)({ ...progress, object_id: id });
  expect(await repeat).toEqual(await original);
}, 60_000);
