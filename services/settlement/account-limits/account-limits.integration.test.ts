import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { payOut, refusal, USDC } from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  base,
  callAs,
  delegateOf,
  held,
  outcome,
  pay,
  publishProgress,
  quote,
  securityNotes,
  startFixture,
  stopFixture,
  underWay,
  until,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { newPayee } from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { consumer, wallets } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { WRONG_DELEGATES } from '../../../test/support/fixtures/settlement/wrong-delegates.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';

beforeAll(startFixture, 300_000);
afterAll(async () => {
  expect((await admin.query(WRONG_DELEGATES)).rows).toEqual([]);
  await stopFixture();
}, 300_000);

type SignedIn = Principal & { kind: 'jwt' };
/** A person with a wallet who signed in long ago. */
const aged = (): SignedIn => ({ ...consumer(), auth_time: 0 });
/** The same person, who has just signed in. */
const fresh = (payer: SignedIn): SignedIn => ({
  ...payer,
  auth_time: Math.floor(base.clock.now() / 1000),
});
type Limits = { per_payment: string; daily: string; used_today: string; remaining_today: string };
const limitsOf = (payer: SignedIn) => callAs<Limits>(payer, 'getAccountLimits', {});
const setLimits = (payer: SignedIn, limits: object) =>
  callAs<Limits>(fresh(payer), 'updateAccountLimits', limits);

test('a payment by an aged sign-in above the default of one payment is refused, and names what to do', async () => {
  const payer = aged();
  const refused = await refusal(pay(payer, quote(10n * USDC + 1n)));
  expect(refused).toMatchObject({
    ...{ code: 'limit_exceeded', money_moved: 'no', safe_action: 'raise_limit' },
    limit: { name: 'account_per_payment', asked: '10000001', limit: '10000000', left: '10000000' },
  });
  for (const part of ['sign in again', 'raise the limit of the account', 'a delegate key'])
    expect(refused.message).toContain(part);
  expect(await held(payer)).toBe(0n);
  await underWay(payer, quote(10n * USDC));
  expect(await limitsOf(payer)).toMatchObject({ used_today: '10000000', remaining_today: '15000000' });
});

test('the same attempt is accepted after a new sign-in, and counts in the day', async () => {
  const payer = aged();
  const q = quote(60n * USDC);
  expect(await outcome(pay(payer, q, 'above'))).toBe('limit_exceeded');
  await underWay(fresh(payer), q, 'above');
  expect(await limitsOf(payer)).toMatchObject({ used_today: '60000000', remaining_today: '0' });
  expect(await refusal(pay(payer, quote(USDC)))).toMatchObject({
    limit: { name: 'account_daily', limit: '25000000', left: '0' },
  });
  // A delegate has limits of its own.
  const delegate = await delegateOf(payer, { daily: 20n * USDC });
  await underWay(delegate, quote(20n * USDC));
});

test('a device that has just signed in pays within the limits of the account', async () => {
  const device: SignedIn = { ...fresh(aged()), device: true };
  expect(await refusal(pay(device, quote(10n * USDC + 1n)))).toMatchObject({
    limit: { name: 'account_per_payment' },
  });
  expect(await refusal(payOut(device, { amount: 40n * USDC }))).toMatchObject({
    limit: { name: 'account_per_payment' },
  });
  await underWay(device, quote(10n * USDC));
  const { device: _device, ...person } = device;
  await underWay(person, quote(40n * USDC));
});

test('payments to other vendors have the same limits', async () => {
  const payer = aged();
  expect(await refusal(payOut(payer, { amount: 40n * USDC }))).toMatchObject({
    ...{ code: 'limit_exceeded', money_moved: 'no', safe_action: 'raise_limit' },
    limit: { name: 'account_per_payment' },
  });
  await payOut(payer, { amount: 10n * USDC, payTo: newPayee('first') });
  await underWay(payer, quote(10n * USDC));
  expect(await refusal(payOut(payer, { amount: 6n * USDC }))).toMatchObject({
    limit: { name: 'account_daily', left: '5000000' },
  });
  await payOut(fresh(payer), { amount: 40n * USDC, payTo: newPayee('second') });
});

test('64 payments at once, of both kinds and from two wallets, never exceed the day', async () => {
  const payer = aged();
  // The account's limits exist from its first payment on.
  await underWay(payer, quote(USDC));
  const first = wallets.get(payer.account_id)!;
  const other = aged();
  const answers = await atOnce(64, (i) => {
    wallets.set(payer.account_id, i % 3 === 0 ? wallets.get(other.account_id)! : first);
    return i % 16 === 0 ? outcome(payOut(payer, { amount: USDC })) : outcome(pay(payer, quote(USDC)));
  });
  // On a busy machine some calls end as unavailable, whether they were accepted or not.
  expect(tally(answers)).not.toHaveProperty('internal_error');
  const { rows } = await admin.query(
    'select count(*)::int as payments from settlements where account_id = $1',
    [payer.account_id],
  );
  expect(rows[0].payments).toBeGreaterThan(1);
  expect(rows[0].payments).toBeLessThanOrEqual(25);
  expect(await limitsOf(payer)).toMatchObject({
    used_today: `${rows[0].payments}000000`,
    remaining_today: `${BigInt(25 - rows[0].payments) * USDC}`,
  });
});

test('a payment that fails gives its amount back, and a confirmed one stays used', async () => {
  const payer = aged();
  const [failed, paid] = [await underWay(payer, quote(8n * USDC)), await underWay(payer, quote(9n * USDC))];
  const failure = { code: 'payment_failed' as const, message: 'it can no longer be included' };
  await publishProgress(failed.settlementId, 'failed', { tx_hash: null, slot: null, failure });
  await publishProgress(paid.settlementId, 'confirmed');
  await untilChainStatus(failed.settlementId, 'failed');
  await untilChainStatus(paid.settlementId, 'confirmed');
  expect(await limitsOf(payer)).toMatchObject({ used_today: '9000000', remaining_today: '16000000' });
});

test('limits change with a recent sign-in only, each change is noted, and a repeat of the read changes nothing', async () => {
  const payer = aged();
  expect(await limitsOf(payer)).toMatchObject({ per_payment: '10000000', daily: '25000000' });
  expect(await outcome(callAs(payer, 'updateAccountLimits', { daily: '90000000' }))).toBe(
    'reauthentication_required',
  );
  expect(await setLimits(payer, { per_payment: '70000000', daily: '90000000' })).toMatchObject({
    ...{ per_payment: '70000000', daily: '90000000', remaining_today: '90000000' },
  });
  await underWay(payer, quote(70n * USDC));
  // Lowered below what is used: nothing is left, and nothing is undone.
  expect(await setLimits(payer, { daily: '1000000' })).toMatchObject({
    ...{ per_payment: '70000000', used_today: '70000000', remaining_today: '0' },
  });
  const notes = await until(
    async () => securityNotes.filter(({ account_id }) => account_id === payer.account_id),
    ({ length }) => length === 2,
  );
  const kind = 'account_limits_changed';
  expect(notes).toMatchObject([
    { kind, details: { per_payment: '70000000', daily: '90000000', raised: 'yes' } },
    { kind, details: { per_payment: '70000000', daily: '1000000', raised: 'no' } },
  ]);
});
