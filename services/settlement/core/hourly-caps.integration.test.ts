import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { settlement } from '../../../shared/contract/index.ts';
import { createBudgets } from '../../../shared/db/budget.ts';
import { createHourlyCaps, measureCapUse } from '../../../shared/db/hourly-caps.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  base,
  capLimits,
  database,
  delegateOf,
  deps,
  operator,
  outcome,
  pay,
  publishProgress,
  quote,
  startFixture,
  stopFixture,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, wallets } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { settle } from '../settling/settle.ts';

/** Accepted payments stay below the hourly caps (docs/design/settle.md, rule 7). */
const USDC = 1_000_000n;
const high = { ...capLimits };
type Payer = ReturnType<typeof consumer>;

beforeAll(startFixture);
afterAll(stopFixture);
beforeEach(async () => {
  // Each test begins with unused caps.
  await admin.query('delete from settlement.spending');
  startReplica();
});
afterEach(() => void Object.assign(capLimits, high, { ofWallet: new Map() }));

/** From now on another replica handles the calls. */
const startReplica = () => {
  deps.caps = replicaCaps();
  settleHere = settle({ ...deps, settleWaitMs: 1 });
};
/** The caps of another replica. */
const replicaCaps = () => createHourlyCaps(createBudgets(base.pool, base.clock.now), capLimits);
let settleHere: ReturnType<typeof settle>;
const attempt = (payer: Payer, { quote_token } = quote(USDC), payment_attempt_id: string = newId('evt')) =>
  settleHere({ quote_token, payment_attempt_id }, payer as never).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ServiceError ? error : Promise.reject(error)),
  );
const attempts = async (payer: Payer, number: number) =>
  Promise.all(Array.from({ length: number }, () => attempt(payer)));
const acceptedOf = (answers: readonly (string | ServiceError)[]) =>
  answers.filter((answer) => answer === 'accepted').length;
const refusal = (message: RegExp, extras: object = {}) =>
  expect.objectContaining({
    code: 'service_unavailable',
    message: expect.stringMatching(message),
    extras: expect.objectContaining({ money_moved: 'unknown', safe_action: 'retry_same_attempt', ...extras }),
  });
const reservedOfEnvironment = async () => {
  const { rows } = await admin.query("select reserved from settlement.spending where scope = 'environment'");
  return BigInt(rows[0].reserved);
};
/** Makes another wallet the default of the account, for the next payments. */
const useWallet = (payer: Payer, of: Payer) => wallets.set(payer.account_id, wallets.get(of.account_id)!);

test('rule 7: payments above the hourly cap of a wallet answer 503 and are not accepted, until the hour ends', async () => {
  capLimits.walletMicro = 5n * USDC;
  const [payer, other] = [consumer(), consumer()];
  const answers = await attempts(payer, 12);
  expect(acceptedOf(answers)).toBe(5);
  const refused = answers.find((answer) => answer !== 'accepted') as ServiceError;
  expect(refused).toEqual(refusal(/one wallet/));
  const hourLeft = 3600 - ((base.clock.now() / 1000) % 3600);
  expect(Math.abs(refused.extras.retryAfterSeconds! - hourLeft)).toBeLessThan(5);
  const { rows } = await admin.query('select count(*) from settlements where account_id = $1', [
    payer.account_id,
  ]);
  expect(rows).toEqual([{ count: '5' }]);
  expect(await attempt(other)).toBe('accepted');
});

test('rule 7: an account may use a tenth of the environment cap with all its wallets', async () => {
  capLimits.environmentMicro = 50n * USDC;
  const [payer, second] = [consumer(), consumer()];
  expect(acceptedOf(await attempts(payer, 3))).toBe(3);
  useWallet(payer, second);
  const answers = await attempts(payer, 4);
  expect(acceptedOf(answers)).toBe(2);
  expect(answers.find((answer) => answer !== 'accepted')).toEqual(refusal(/one account/));
  expect(await attempt(consumer())).toBe('accepted');
});

test('rule 7: all accounts together stay below the cap of the environment', async () => {
  capLimits.environmentMicro = 10n * USDC;
  const answers = await Promise.all(Array.from({ length: 15 }, () => attempt(consumer())));
  expect(acceptedOf(answers)).toBe(10);
  expect(answers.find((answer) => answer !== 'accepted')).toEqual(refusal(/all accounts/));
});

test('rule 7: concurrent replicas never accept more than a cap', async () => {
  capLimits.walletMicro = 7n * USDC + 500_000n;
  capLimits.environmentMicro = 10n ** 12n;
  const payer = consumer();
  const replicas = [0, 1].map(() => settle({ ...deps, caps: replicaCaps(), settleWaitMs: 1 }));
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      replicas[i % 2]!(
        { quote_token: quote(i % 4 === 0 ? 2n * USDC : USDC).quote_token, payment_attempt_id: newId('evt') },
        payer as never,
      ).then(
        () => 'accepted',
        (error: ServiceError) => error.code,
      ),
    ),
  );
  expect(new Set(answers)).toEqual(new Set(['accepted', 'service_unavailable']));
  const { rows } = await admin.query('select sum(quote_amount) from settlements where account_id = $1', [
    payer.account_id,
  ]);
  expect(BigInt(rows[0].sum)).toBeLessThanOrEqual(capLimits.walletMicro);
  expect(BigInt(rows[0].sum)).toBeGreaterThanOrEqual(6n * USDC);
});

test('rule 3: a repeat is answered when the cap is reached; while its first call runs it never gets money_moved no', async () => {
  capLimits.walletMicro = USDC;
  const payer = consumer();
  const bought = quote(USDC);
  const id = newId('evt');
  const same = await Promise.all(Array.from({ length: 8 }, () => attempt(payer, bought, id)));
  // The first call may have reserved the amount that these lack, so its money may move.
  expect(acceptedOf(same)).toBeGreaterThan(0);
  for (const answer of same) if (answer !== 'accepted') expect(answer).toEqual(refusal(/one wallet/));
  expect(await attempt(payer, bought, id)).toBe('accepted');
  const { settlement_id } = await pay(payer, bought, id);
  await publishProgress(settlement_id, 'confirmed');
  expect(await outcome(pay(payer, bought, id))).toBe('ok');
  expect(await attempt(payer)).toEqual(refusal(/one wallet/));
});

test('an amount that was reserved for a refused payment is released', async () => {
  capLimits.walletMicro = 3n * USDC;
  const payer = consumer();
  const delegate = await delegateOf(payer, { total: USDC });
  expect(await outcome(pay(delegate, quote(USDC)))).toBe('ok');
  for (let i = 0; i < 5; i += 1) expect(await outcome(pay(delegate, quote(USDC)))).toBe('limit_exceeded');
  const taken = quote(USDC);
  expect(await outcome(pay(payer, taken))).toBe('ok');
  for (let i = 0; i < 5; i += 1) expect(await outcome(pay(payer, taken))).toBe('quote_already_settled');
  expect(await outcome(pay(payer, quote(USDC)))).toBe('ok');
  expect(await outcome(pay(payer, quote(USDC)))).toBe('service_unavailable');
});

test('refused payments of accounts without money do not use up the cap of the environment', async () => {
  capLimits.environmentMicro = 100n * USDC;
  const poor = Array.from({ length: 12 }, () => consumer(0n));
  const answers = await Promise.all(poor.map((payer) => attempt(payer, quote(10n * USDC))));
  expect(acceptedOf(answers)).toBe(0);
  // Releases are written after the answers. Each returns 10 USDC, less what stays with a replica.
  await until(reservedOfEnvironment, (micro) => micro < 10n * USDC);
  startReplica();
  const rich = Array.from({ length: 9 }, () => consumer());
  expect(acceptedOf(await Promise.all(rich.map((payer) => attempt(payer, quote(10n * USDC)))))).toBe(9);
});

test('a payment above a cap is refused with the action stop; a wallet may have a separate cap', async () => {
  capLimits.walletMicro = 5n * USDC;
  const [payer, raised] = [consumer(), consumer()];
  capLimits.ofWallet = new Map([[raised.owner, 20n * USDC]]);
  expect(await attempt(payer, quote(6n * USDC))).toEqual(
    refusal(/exceeds the hourly cap/, { money_moved: 'no', safe_action: 'stop' }),
  );
  expect(await attempt(raised, quote(6n * USDC))).toBe('accepted');
});

test('an operator sees the caps, and the wallets and accounts that have used most of them', async () => {
  capLimits.walletMicro = 4n * USDC;
  const payers = [consumer(), consumer()] as const;
  await attempts(payers[0], 3);
  expect(await attempt(payers[1])).toBe('accepted');
  const shown = await call(operator, settlement, 'getCaps', {});
  expect(shown).toMatchObject({ wallet_cap: '4000000', environment_cap: `${capLimits.environmentMicro}` });
  const own = ({ account_id, owner }: Payer, reserved: string) => [
    expect.objectContaining({ of: 'wallet', id: owner, reserved, cap: '4000000' }),
    expect.objectContaining({ of: 'account', id: account_id }),
  ];
  expect(shown.used).toEqual([
    expect.objectContaining({ of: 'environment', id: null }),
    ...['account', 'wallet'].flatMap((of) => [
      expect.objectContaining({ of, id: of === 'wallet' ? payers[0].owner : expect.any(String) }),
      expect.objectContaining({ of, id: of === 'wallet' ? payers[1].owner : expect.any(String) }),
    ]),
  ]);
  expect(await measureCapUse(base.pool, capLimits)).toEqual([
    expect.objectContaining({ value: 0.75, labels: { cap: 'wallet_hour' } }),
    expect.objectContaining({ labels: { cap: 'account_hour' } }),
    expect.objectContaining({ labels: { cap: 'environment_hour' } }),
  ]);
  expect(shown.used).toEqual(
    expect.arrayContaining([...own(payers[0], '3000000'), ...own(payers[1], '1000000')]),
  );
});

test('the caps refill with the next hour', async () => {
  capLimits.walletMicro = USDC;
  const payer = consumer();
  expect(await attempt(payer)).toBe('accepted');
  expect(await attempt(payer)).toEqual(refusal(/one wallet/));
  await database.withClock('1 hour', async () => {
    const before = base.clock.now();
    await until(
      async () => base.clock.now(),
      (now) => now - before > 3_500_000,
    );
    const fresh = () => quote(USDC, { expiresInMs: 2 * 3_600_000 });
    expect(await attempt(payer, fresh())).toBe('accepted');
    expect(await attempt(payer, fresh())).toEqual(refusal(/one wallet/));
  });
});
