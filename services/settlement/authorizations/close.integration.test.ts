import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { EventName, EventPayload } from '../../../shared/contract/events.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  authorize,
  capture,
  extensionOf,
  record,
  use,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  base,
  callAs,
  type DelegateKey,
  delegateOf,
  deps,
  held,
  limitsOf,
  NO_RIGHTS,
  outcome,
  pay,
  serviceKey,
  startFixture,
  stopFixture,
  testBus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, frozen } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { publishEvent } from '../../../test/support/servers/publish.ts';
import { upsertDelegate } from '../delegates/upsert-delegate.ts';

/** Rule 27: who stops a payer or a vendor ends its authorizations. */
beforeAll(startFixture);
afterAll(stopFixture);
afterEach(() => frozen.clear());

const USED = '100000';
type Tab = Awaited<ReturnType<typeof authorize>>;
type Closed = { status: string; used: string; max_amount: string };
const close = ({ id }: { id: string }, caller: Principal) =>
  callAs<Closed>(caller, 'close', { settlement_id: id });
/** An authorization whose vendor decides the amount of its capture, partly used. */
const opened = async (payer: Principal & { account_id: string }): Promise<Tab> => {
  const one = await authorize({ mode: 'manual' }, payer);
  await use(one, { usage_id: 'a', amount: USED });
  return one;
};
const publish = async <N extends EventName>(name: N, payload: EventPayload<N>) =>
  publishEvent(await testBus.as('identity'), name, payload);

/** What was used is captured, the rest is released, and nothing more can be used or captured. */
const expectClosed = async (one: Tab): Promise<void> => {
  await waitUntil(async () => (await record(one.id)).status === 'capturing');
  expect(await record(one.id)).toMatchObject({ amount: USED, used: USED });
  expect(await held(one.payer)).toBe(BigInt(USED));
  expect(await outcome(use(one, { usage_id: 'more', amount: '1' }))).toBe('authorization_closed');
};
/** That is so before its capture is decided, too. */
const expectShut = async (one: Tab): Promise<void> => {
  const beyond = { amount: '500000', settlement_token: one.token };
  expect(await outcome(capture(one, beyond))).toMatch(/authorization_closed|conflict/);
  expect(await record(one.id)).not.toMatchObject({ amount: '500000', status: 'capturing' });
};

test('rule 27: the payer closes an authorization by a sign-in or by its own delegate key, once', async () => {
  const owner = consumer();
  const key = await delegateOf(owner, { daily: 5_000_000n });
  const [bySignIn, byKey] = [await opened(owner), await opened(key)];
  expect(await close(bySignIn, owner)).toMatchObject({
    ...{ status: 'capturing', used: USED, max_amount: '500000' },
  });
  expect(await close(byKey, key)).toMatchObject({ status: 'capturing', used: USED });
  for (const one of [bySignIn, byKey]) {
    expect(await close(one, owner)).toMatchObject({ status: 'capturing', used: USED });
    expect(await outcome(use(one, { usage_id: 'more', amount: '1' }))).toBe('authorization_closed');
    await expectShut(one);
  }
  expect(await held(owner)).toBe(2n * BigInt(USED));
  const unused = await authorize({}, owner);
  expect(await close(unused, owner)).toMatchObject({ status: 'voided', used: '0' });
  const settled = await pay(owner, extensionOf(unused, 1n), newId('evt')).catch(({ code }) => code);
  expect(settled).toBe('authorization_closed');
});

test('rule 27: nobody else closes it, and no other payment is closed', async () => {
  const owner = consumer();
  const [key, other] = [await delegateOf(owner), await delegateOf(owner)];
  const one = await opened(key);
  for (const stranger of [consumer(), other, serviceKey])
    expect(await outcome(close(one, stranger))).toMatch(/not_found|forbidden/);
  // The vendor's own sign-in is not the payer.
  const seller = { ...consumer(), account_id: vendor.account_id } as Principal;
  expect(await outcome(close(one, seller))).toBe('not_found');
  const extension = extensionOf(one, 100_000n);
  const attempt = newId('evt');
  const { extension_id } = (await pay(key, extension, attempt)) as unknown as { extension_id: string };
  expect(await outcome(close({ id: extension_id }, owner))).toBe('validation_error');
  expect(await record(one.id)).toMatchObject({ status: 'authorized' });
});

test('rule 27: a paused delegate pays nothing beyond what was used', async () => {
  const owner = consumer();
  const [key, other] = [await delegateOf(owner), await delegateOf(owner)];
  const [one, untouched] = [await opened(key), await opened(other)];
  await changeDelegate(key, { paused: true, expected_version: 1 });
  expect(await record(one.id)).toMatchObject({ status: 'capturing', amount: USED });
  await expectShut(one);
  expect(await record(untouched.id)).toMatchObject({ status: 'authorized' });
});
const changeDelegate = (
  { account_id, delegate_id }: DelegateKey,
  change: { paused: boolean; expected_version: number },
) =>
  upsertDelegate(deps)({
    ...{ account_id, delegate_id, limits: limitsOf({}), allowed_service_ids: null },
    ...NO_RIGHTS,
    ...change,
  });

test('rule 27: a deleted delegate pays nothing beyond what was used, and opens nothing any more', async () => {
  const owner = consumer();
  const key = await delegateOf(owner);
  const one = await opened(key);
  const { account_id, delegate_id, wallet_id } = key;
  const change = { change_id: newId('evt'), account_id, at: isoTime(base.clock.now()) };
  const about = { delegate_id, name: 'agent', wallet_id, expires_at: null };
  await publish('identity.delegateChanged', { ...change, ...about, change: 'updated' });
  await publish('identity.delegateChanged', {
    ...change,
    ...about,
    change_id: newId('evt'),
    change: 'deleted',
  });
  await expectClosed(one);
  await expectShut(one);
  // A call of it that was still under way.
  expect(await outcome(authorize({}, key))).toBe('forbidden');
});

test('rule 27: the end of a sign-in ends what it has authorized, and nothing else', async () => {
  const owner = consumer();
  const device = { ...owner, session_id: 'of-a-device', device: true } as unknown as typeof owner;
  const [one, untouched] = [await opened(device), await opened(consumer())];
  const ofPerson = await authorize({}, owner, 1_000_000n);
  await publish('identity.sessionRevoked', { account_id: owner.account_id, session_id: 'of-a-device' });
  await waitUntil(async () => (await record(one.id)).status === 'capturing');
  await expectShut(one);
  for (const { id } of [untouched, ofPerson])
    expect(await record(id)).toMatchObject({ status: 'authorized' });
});

test.each(['payer', 'vendor'] as const)(
  'rule 27: while the %s is frozen, nothing beyond the use is captured',
  async (side) => {
    const payer = consumer();
    const [one, late] = [await opened(payer), await opened(payer)];
    const account_id = side === 'payer' ? payer.account_id : vendor.account_id;
    frozen.add(account_id);
    const key = { ...serviceKey, ...(side === 'vendor' && { frozen: true }) } as Principal;
    // The freeze has begun, and its event has not come.
    const beyond = { settlement_id: late.id, amount: '500000', settlement_token: late.token };
    expect(await outcome(callAs(key, 'capture', beyond))).toBe('authorization_closed');
    await publish('identity.accountFrozen', { account_id, at: isoTime(base.clock.now()) });
    for (const each of [one, late])
      await waitUntil(async () => (await record(each.id)).status === 'capturing');
    for (const each of [one, late]) {
      expect(await record(each.id)).toMatchObject({ amount: USED });
      expect(await outcome(use(each, { usage_id: 'more', amount: '1' }, key))).toBe('authorization_closed');
    }
    expect(await held(payer)).toBe(2n * BigInt(USED));
  },
);

test('rule 27: what a closed authorization has used counts, also while its capture waits for the caps', async () => {
  const owner = consumer();
  const one = await opened(owner);
  await admin.query(
    `update authorizations set retry_at = app_now() + interval '1 hour' where settlement_id = $1`,
    [one.id],
  );
  expect(await close(one, owner)).toMatchObject({ status: 'authorized', used: USED });
  await expectShut(one);
  expect(await outcome(use(one, { usage_id: 'more', amount: '1' }))).toBe('authorization_closed');
});
