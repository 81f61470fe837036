import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createBudgets } from '../../../shared/db/budget.ts';
import { createHourlyCaps } from '../../../shared/db/hourly-caps.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  ceilingQuote,
  extensionOf,
  record,
  use,
  voidIt,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  base,
  capLimits,
  database,
  deps,
  outcome,
  publishProgress,
  quote,
  serviceKey,
  startFixture,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { capture } from '../authorizations/capture.ts';
import { createEndAuthorization } from '../authorizations/end-authorization.ts';
import { endDueAuthorizations } from '../authorizations/end-due-authorizations.ts';
import { listDue } from '../record/store/authorizations.ts';
import { settle } from '../settling/settle.ts';

/** Rule 7: what is authorized and what is paid have hourly caps of their own. */
const USDC = 1_000_000n;
const high = { ...capLimits };
type Spending = { scope: string; hour: number; reserved: string };
type Payer = ReturnType<typeof consumer>;
type Quote = ReturnType<typeof quote>;

beforeAll(startFixture);
afterAll(stopFixture);
beforeEach(async () => {
  // The clock of the service follows that of the database.
  await waitUntil(async () => hourNow() === 10);
  await admin.query('delete from settlement.spending');
  startReplica();
});
afterEach(() => void Object.assign(capLimits, high));

const hourNow = () => new Date(base.clock.now()).getUTCHours();
let own: typeof deps;
/** From now on a replica handles the calls that has reserved nothing ahead. */
const startReplica = () => {
  const budgets = createBudgets(base.pool, base.clock.now);
  const caps = createHourlyCaps(budgets, capLimits);
  own = {
    ...deps,
    ...{ caps, authorizedCaps: createHourlyCaps(budgets, capLimits, 'authorized') },
    endAuthorization: createEndAuthorization({ ...deps, caps }),
    settleWaitMs: 1,
  };
};
const settleHere = async (payer: Payer, { quote_token }: Quote) =>
  settle(own)({ quote_token, payment_attempt_id: newId('evt') }, payer as never);
const attempt = (payer: Payer, q: Quote) => outcome(settleHere(payer, q));
const authorize = async (payer: Payer, amount = USDC) => {
  const q = ceilingQuote({}, amount);
  const answer = await settleHere(payer, q);
  return { q, id: answer.settlement_id, token: (answer as { settlement_token: string }).settlement_token };
};
const captureHere = async ({ id }: { id: string }) =>
  outcome((async () => capture(own)({ settlement_id: id }, serviceKey as never))());
const spending = async (scope: string): Promise<Spending[]> =>
  (
    await admin.query<Spending>(
      `select scope, extract(hour from period at time zone 'utc')::int as hour, reserved::text
       from settlement.spending where scope = $1 order by period`,
      [scope],
    )
  ).rows;

test('authorizations over a whole cap leave the payments of others as they are', async () => {
  capLimits.environmentMicro = 50n * USDC;
  const tabs = [];
  for (let n = 0; n < 10; n += 1) tabs.push(await authorize(consumer(), 5n * USDC));
  // Other authorizations wait for the next hour, and name what is reached.
  expect(await attempt(consumer(), ceilingQuote({}, USDC))).toBe('service_unavailable');
  expect(await attempt(consumer(), quote(USDC))).toBe('ok');
  expect(await spending('environment')).toMatchObject([{ reserved: `${USDC}` }]);
  // What is void is given back.
  for (const { id } of tabs) await voidIt({ id });
  expect(await spending('authorized/environment')).toMatchObject([{ reserved: '0' }]);
});

test('an extension counts in the caps of authorizations, too', async () => {
  const payer = consumer();
  capLimits.walletMicro = 2n * USDC;
  const one = await authorize(payer);
  expect(await attempt(payer, extensionOf(one, 2n * USDC))).toBe('service_unavailable');
  expect(await attempt(payer, extensionOf(one, USDC))).toBe('ok');
  expect(await spending(`authorized/wallet/${payer.owner}`)).toMatchObject([{ reserved: `${2n * USDC}` }]);
});

/** What the caps count in the tenth and the eleventh hour, where a suite begins. */
const ofEnvironment = async (scope = 'environment') =>
  Object.fromEntries((await spending(scope)).map(({ hour, reserved }) => [hour, reserved]));
/** Lets the next hour begin for the database, and so for the service. */
const inNextHour = (work: () => Promise<void>) =>
  database.withClock('1 hour', async () => {
    await waitUntil(async () => hourNow() === 11);
    await work();
  });
const jobOf = async (id: string) => {
  const { rows } = await admin.query(
    "select payload from outbox where payload ->> 'settlement_id' = $1 and payload ? 'capture_amount'",
    [id],
  );
  return rows[0]?.payload as { accepted_at: string; capture_amount: string } | undefined;
};

test('a capture counts in the hour that decides it, as the signer counts its job, and frees its ceiling', async () => {
  capLimits.environmentMicro = 50n * USDC;
  const one = await authorize(consumer());
  await use(one, { usage_id: 'a', amount: '600000' });
  expect(await ofEnvironment('authorized/environment')).toEqual({ 10: '1000000' });
  expect(await ofEnvironment()).toEqual({});
  await inNextHour(async () => {
    void captureHere(one);
    await waitUntil(async () => (await record(one.id)).status === 'capturing');
    expect(await ofEnvironment()).toEqual({ 11: '600000' });
    expect(await ofEnvironment('authorized/environment')).toEqual({ 10: '0' });
    const { accepted_at, capture_amount } = (await jobOf(one.id))!;
    expect([new Date(accepted_at).getUTCHours(), capture_amount]).toEqual([11, '600000']);
    // A failure gives nothing back, as in the signer: the quote of a settle may be paid again.
    const failure = { code: 'payment_failed' as const, message: 'it can no longer be included' };
    await publishProgress(one.id, 'failed', { tx_hash: null, slot: null, failure });
    await untilChainStatus(one.id, 'failed');
    expect(await ofEnvironment()).toEqual({ 11: '600000' });
  });
});

test('a capture over an hourly cap waits for the next hour, and its authorization holds its ceiling', async () => {
  capLimits.walletMicro = USDC;
  const payer = consumer();
  const [asked, due] = [await authorize(payer, 500_000n), await authorize(payer, 500_000n)];
  for (const one of [asked, due]) await use(one, { usage_id: 'a', amount: '400000' });
  expect(await attempt(payer, quote(700_000n))).toBe('ok');
  expect(await captureHere(asked)).toBe('service_unavailable');
  await admin.query('update authorizations set due_at = app_now() where settlement_id = $1', [due.id]);
  await endDueAuthorizations(own)();
  for (const one of [asked, due])
    expect(await record(one.id)).toMatchObject({ status: 'authorized', holding: true, amount: '500000' });
  // It is not read again before, so it keeps no other one waiting.
  expect(await listDue(base.pool, 10)).toEqual([]);
  await inNextHour(async () => {
    await endDueAuthorizations(own)();
    expect(await record(due.id)).toMatchObject({ status: 'capturing', amount: '400000' });
    void captureHere(asked);
    await waitUntil(async () => (await record(asked.id)).status === 'capturing');
  });
});
