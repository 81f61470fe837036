import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Consuming, hear } from '../../shared/bus/consume.ts';
import { settlement } from '../../shared/contract/index.ts';
import { newId } from '../../shared/lib/id.ts';
import {
  as,
  consumer,
  database,
  deps,
  key,
  paid,
  quote,
  say,
  startFixture,
  stopFixture,
  testBus,
  underWay,
  until,
  vendor,
} from '../../test/support/settlement.ts';
import { atOnce } from '../../test/support/stack.ts';
import { expireSettlements } from './jobs/expireSettlements.ts';
import { consumeOnce } from './store/consumptions.ts';

/** What is told of a settlement, as the service that tells accounts hears it: parsed by the contract, by its own rights. */
type Told = { name: string; settlement_id: string } & Record<string, unknown>;
const told: Told[] = [];
const unread: unknown[] = [];
let hearing: Consuming;
/** In the order of a life: facts overtake one another on their way. */
const NAMES = ['accepted', 'issued', 'finalized', 'failed', 'reversed', 'redeemed', 'expired'] as const;

beforeAll(async () => {
  await startFixture();
  const handlers = Object.fromEntries(
    NAMES.map((name) => [name, async (fact: object) => void told.push({ name, ...fact } as Told)]),
  );
  hearing = hear(await testBus.as('webhook'), settlement, handlers, async (entry) => void unread.push(entry));
}, 60_000);
afterAll(async () => {
  await hearing.stop();
  await stopFixture();
  expect(unread).toEqual([]);
});

const of = (settlementId: string) => told.filter(({ settlement_id }) => settlement_id === settlementId);
const namesOf = async (settlementId: string, count: number) => {
  const names = await until(
    async () => of(settlementId).map(({ name }) => name),
    ({ length }) => length >= count,
  );
  const place = (name: string) => NAMES.findIndex((each) => each === name);
  return names.toSorted((a, b) => place(a) - place(b));
};
const redeem = ({ settlementId, answer }: Awaited<ReturnType<typeof paid>>, redeem_id?: string) =>
  as<{ redeemed_at: string }>(key, 'redeem', {
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
  await say(p.settlementId, 'finalized');
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
    as(key, 'consume', {
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
    const [drawn] = await consumeOnce(deps.pool, [
      {
        settlement_id: other.settlementId,
        service_id: vendor.service_id,
        request_id: newId('evt'),
        units: 1,
        traceparent: null,
      },
    ]);
    return drawn!.told.length;
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
  await say(failing.settlementId, 'failed', {
    failure: { code: 'insufficient_funds', message: 'the balance is too small' },
  });
  await failing.answer.catch(() => {});
  await say(lost.settlementId, 'failed');
  expect(await namesOf(failing.settlementId, 2)).toEqual(['accepted', 'failed']);
  expect((await namesOf(lost.settlementId, 4)).slice(2)).toEqual(['failed', 'reversed']);
  for (const fact of [...of(failing.settlementId), ...of(lost.settlementId)])
    expect(fact).toMatchObject({ vendor_account_id: vendor.account_id });
});
