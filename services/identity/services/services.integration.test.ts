import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import { keyHash, parseKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  callerOf,
  codeOf,
  PAYOUT,
  REFUSED_PAYOUT,
  startIdentity,
} from '../../../test/support/fixtures/identity.ts';
import { moment } from '../mailer/mail-text.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

type Owner = Principal & { kind: 'jwt' };
const HOUR = 3600;
const DAY = 24 * HOUR;
const WEATHER = { name: 'Weather', price: '2500000', payout_address: PAYOUT };
const refused = (code: string) => ({ name: 'ServiceError', code });
const create = (owner: Owner, body: object = {}) =>
  running.ask('createService', { ...WEATHER, ...body }, owner);
const stale = (owner: Owner): Owner => ({ ...owner, auth_time: 0 });
const signedIn = async () => {
  const session = await running.signIn();
  return { owner: callerOf(session), address: session.account.email };
};
const untilMailed = (address: string, part: string) =>
  running.mailTo(address, ({ text }) => text.includes(part));
const isValid = async (apiKey: string) => (await running.findKey(keyHash(apiKey))) !== null;

test('a service is created with a key that authenticates it until the key is revoked', async () => {
  const owner = callerOf(await running.signIn());
  const { api_key, ...created } = await create(owner);
  const amounts = { fee_amount: '12500', net_amount: '2487500' };
  expect(created).toMatchObject({ ...WEATHER, ...amounts, redeem_window_seconds: 900, status: 'active' });
  expect(parseKeyText(api_key)).toMatchObject({ kind: 'service_key', environment: 'test' });

  const key_hash = parseKeyText(api_key)!.hash;
  const find = () => running.findKey(key_hash);
  const principal = await find();
  expect(principal).toEqual({
    kind: 'service_key',
    account_id: owner.account_id,
    service_id: created.service_id,
    key_id: expect.stringMatching(/^key_/),
  });
  expect(await running.ask('getService', { service_id: created.service_id }, owner)).toEqual(created);
  const { fee_amount: _fee, net_amount: _net, allowed_ips, ...terms } = created;
  expect(allowed_ips).toBeNull();
  expect(await running.findService(created.service_id)).toEqual({ ...terms, account_id: owner.account_id });

  const revokeIn = (when: string) =>
    running.admin.query(
      `update identity.keys set revoked_at = public.app_now() + $2::interval where key_hash = $1`,
      [key_hash, when],
    );
  await revokeIn('1 minute');
  expect(await find()).toEqual(principal);
  await running.passSeconds(60);
  expect(await find()).toBeNull();
});

test('an unknown key and an unknown service are null', async () => {
  expect(await running.findKey('A'.repeat(43))).toBeNull();
  const service_id = '00000000-0000-4000-8000-000000000000';
  expect(await running.findService(service_id)).toBeNull();
});

test('a refused payout address creates no service', async () => {
  const before = await running.count('services');
  const owner = callerOf(await running.signIn());
  await expect(
    running.ask('createService', { ...WEATHER, payout_address: REFUSED_PAYOUT }, owner),
  ).rejects.toMatchObject(refused('validation_error'));
  expect(await running.count('services')).toBe(before);
});

test('a price that the fee would take is refused when it is set, with the fee and the least price', async () => {
  const owner = callerOf(await running.signIn());
  const message =
    'price: must exceed the fee of 10000 micro-units, which you pay out of the price; send at least "10001"';
  const before = await running.count('services');
  for (const price of ['1', '10000'])
    await expect(create(owner, { price })).rejects.toMatchObject({ ...refused('validation_error'), message });
  expect(await running.count('services')).toBe(before);
  // A form shows both amounts, and the lowest price, before the price is saved.
  const feeOf = (price: string) => running.ask('showFee', { price }, owner);
  const lowest_price = '10001';
  expect(await feeOf('10000')).toEqual({
    price: '10000',
    fee_amount: '10000',
    net_amount: '0',
    lowest_price,
  });
  expect(await feeOf('2500000')).toMatchObject({ fee_amount: '12500', net_amount: '2487500', lowest_price });

  const { service_id, net_amount } = await create(owner, { price: '10001' });
  expect(net_amount).toBe('1');
  await expect(patch(owner, service_id, { price: '10000', name: 'Rain' })).rejects.toMatchObject({ message });
  // A service that is older than the rule shows that it receives nothing, and can still be changed.
  await running.admin.query('update identity.services set price = 10000 where service_id = $1', [service_id]);
  const old = { price: '10000', fee_amount: '10000', net_amount: '0' };
  expect(await patch(owner, service_id, { name: 'Rain' })).toMatchObject({ name: 'Rain', ...old });
  expect(await running.ask('listServices', {}, owner)).toMatchObject({ data: [old] });
});

test('a service does not exist for another account', async () => {
  const [owner, other] = [callerOf(await running.signIn()), callerOf(await running.signIn())];
  const { service_id } = await create(owner);
  await expect(running.ask('getService', { service_id }, other)).rejects.toMatchObject(refused('not_found'));
  expect(await running.ask('listServices', {}, other)).toEqual({ data: [], next_cursor: null });
});

test('services are listed in pages, newest first, and a cursor is valid for its account only', async () => {
  const [owner, other] = [callerOf(await running.signIn()), callerOf(await running.signIn())];
  const made: string[] = [];
  for (let i = 0; i < 5; i += 1) made.unshift((await create(owner)).service_id);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await running.ask('listServices', { limit: '2', ...(cursor ? { cursor } : {}) }, owner);
    seen.push(...page.data.map(({ service_id }) => service_id));
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined) {
      await expect(running.ask('listServices', { cursor }, other)).rejects.toMatchObject(
        refused('validation_error'),
      );
    }
  } while (cursor !== undefined);
  expect(seen).toEqual(made);
});

test.each([
  ['no credential', { kind: 'none' }],
  [
    'a key',
    { kind: 'service_key', account_id: newId('acct'), service_id: crypto.randomUUID(), key_id: 'key' },
  ],
] as [string, Principal][])('a service cannot be created with %s', async (_name, caller) => {
  await expect(running.ask('createService', WEATHER, caller)).rejects.toMatchObject(refused('forbidden'));
});

test('fields that the caller may not set are refused', async () => {
  const owner = callerOf(await running.signIn());
  const foreign = { ...WEATHER, account_id: newId('acct') };
  await expect(running.ask('createService', foreign, owner)).rejects.toMatchObject(
    refused('validation_error'),
  );
});

const patch = (owner: Owner, service_id: string, body: object) =>
  running.ask('updateService', { service_id, ...body }, owner);
const remove = (owner: Owner, service_id: string, body: object = {}) =>
  running.ask('deleteService', { service_id, ...body }, owner);
const OTHER = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

test('an update changes the given fields and no other', async () => {
  const { owner } = await signedIn();
  const { api_key: _key, ...made } = await create(owner, { key_grace_hours: 0 });
  const change = { name: 'Rain', price: '10001', redeem_window_seconds: 60, key_grace_hours: 168 };
  const changed = { ...made, ...change, fee_amount: '10000', net_amount: '1' };
  expect(await patch(stale(owner), made.service_id, change)).toEqual(changed);
  expect(await patch(owner, made.service_id, {})).toEqual(changed);
  expect(await codeOf(patch(callerOf(await running.signIn()), made.service_id, change))).toBe('not_found');
});

test.each([
  { status: 'closing' },
  { account_id: newId('acct') },
  { created_at: '2020-01-01T00:00:00Z' },
  { price: 5 },
  { price: '0' },
  { key_grace_hours: 169 },
  { key_grace_hours: -1 },
  { redeem_window_seconds: 29 },
  { name: 'two\nlines' },
  { next_payout: null },
])('an update with %j is refused', async (change) => {
  const { owner } = await signedIn();
  const { service_id } = await create(owner);
  expect(await codeOf(patch(owner, service_id, change))).toBe('validation_error');
});

test('with a grace period of 0 hours a rotation revokes the previous key', async () => {
  const { owner } = await signedIn();
  const { service_id, api_key } = await create(owner, { key_grace_hours: 0 });
  await running.ask('rotateServiceKey', { service_id }, owner);
  expect(await isValid(api_key)).toBe(false);
});

test('a payout address changes by a fresh sign-in, after the delay, and the owner is notified', async () => {
  const { owner, address } = await signedIn();
  const { service_id } = await create(owner);
  const change = { payout_address: OTHER };
  expect(await codeOf(patch(stale(owner), service_id, change))).toBe('reauthentication_required');
  const pending = await patch(owner, service_id, change);
  expect(pending).toMatchObject({ payout_address: PAYOUT, next_payout: { payout_address: OTHER } });
  const effective = pending.next_payout!.effective_at;
  expect(Math.abs(Date.parse(effective) - running.now() - DAY * 1000)).toBeLessThan(10_000);
  await untilMailed(address, `to ${OTHER} from ${moment(effective, new Date())}`);
  expect((await running.findService(service_id))!.payout_address).toBe(PAYOUT);
  await running.passSeconds(DAY - 10);
  expect((await running.findService(service_id))!.payout_address).toBe(PAYOUT);
  await running.passSeconds(10);
  expect(await running.findService(service_id)).toMatchObject({ payout_address: OTHER, next_payout: null });
});

test('the addresses from which the keys may be used change by a fresh sign-in', async () => {
  const { owner } = await signedIn();
  const { service_id, api_key } = await create(owner);
  const found = () => running.findKeyRecord(keyHash(api_key));
  expect(await found()).not.toHaveProperty('allowed_ips');
  const change = { allowed_ips: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32'] };
  expect(await codeOf(patch(stale(owner), service_id, change))).toBe('reauthentication_required');
  expect(await patch(owner, service_id, change)).toMatchObject(change);
  expect(await found()).toMatchObject(change);
  // Another change leaves them.
  expect(await patch(stale(owner), service_id, { name: 'Other' })).toMatchObject(change);
  expect(await patch(owner, service_id, { allowed_ips: null })).toMatchObject({ allowed_ips: null });
  expect(await found()).not.toHaveProperty('allowed_ips');
});

test('other addresses are an event, and their mail cannot be turned off if they are wider', async () => {
  const { owner, address } = await signedIn();
  await running.ask('updateSettings', { mail_key_events: false }, owner);
  const { service_id } = await create(owner);
  const [home, office] = ['203.0.113.7', '198.51.100.0/24'];
  const noted = async () =>
    (await running.ask('listSecurityEvents', {}, owner)).data
      .filter(({ kind }) => kind === 'allowed_ips_changed')
      .map(({ details }) => [details.allowed_ips, details.widened]);
  const lists = [[home, office], [office, home], [home], [home], [office], null, null];
  for (const allowed_ips of lists) await patch(owner, service_id, { allowed_ips });
  const events = [
    ['any address', 'yes'],
    [office, 'yes'],
    [home, 'no'],
    [`${home}, ${office}`, 'no'],
  ];
  expect(await noted()).toEqual(events);
  await untilMailed(address, 'now work from any address');
  await running.allHandledAndMailed();
  const mails = running.smtp.mailsTo(address).filter(({ text }) => text.includes('now work from'));
  expect(mails).toHaveLength(events.filter(([, widened]) => widened === 'yes').length);
  for (const { text } of mails) expect(text).toContain('cannot be turned off');
});

test.each([
  [['no address']],
  [['203.0.113.256']],
  [['203.0.113.0/33']],
  [['203.0.113.0/8/8']],
  [['fe80::1%eth0']],
  [[]],
  [Array.from({ length: 21 }, (_, index) => `203.0.113.${index}`)],
])('the addresses %j are refused', async (allowed_ips) => {
  const { owner } = await signedIn();
  const { service_id } = await create(owner);
  expect(await codeOf(patch(owner, service_id, { allowed_ips }))).toBe('validation_error');
});

test('a pending payout address is cancelled by the present one, and replaced by another', async () => {
  const { owner } = await signedIn();
  const fresh = () => ({ ...owner, auth_time: Math.floor(running.now() / 1000) });
  const { service_id } = await create(owner);
  await patch(fresh(), service_id, { payout_address: OTHER });
  expect(await patch(fresh(), service_id, { payout_address: PAYOUT })).toMatchObject({
    payout_address: PAYOUT,
    next_payout: null,
  });
  await patch(fresh(), service_id, { payout_address: OTHER });
  await running.passSeconds(DAY);
  // The change is effective now, so the present address is the new one.
  expect(await patch(fresh(), service_id, { payout_address: PAYOUT })).toMatchObject({
    payout_address: OTHER,
    next_payout: { payout_address: PAYOUT },
  });
});

test('a service without open quotes is deleted at once, its keys are revoked, and the owner is notified', async () => {
  const { owner, address } = await signedIn();
  const { service_id, api_key } = await create(owner);
  expect(await codeOf(remove(callerOf(await running.signIn()), service_id))).toBe('not_found');
  expect(await remove(owner, service_id)).toBeNull();
  expect([await isValid(api_key), await running.findService(service_id)]).toEqual([false, null]);
  expect(running.revokedHashes()).toContain(keyHash(api_key));
  expect(await codeOf(running.ask('getService', { service_id }, owner))).toBe('not_found');
  expect(await codeOf(remove(owner, service_id))).toBe('not_found');
  expect((await running.ask('listServices', {}, owner)).data).toEqual([]);
  await untilMailed(address, 'was deleted, so all its keys were revoked');
});

test('a service with open quotes is not deleted, but closed on request until 30 days after its last window', async () => {
  const { owner } = await signedIn();
  const { service_id, api_key } = await create(owner);
  const status = async () => (await running.findService(service_id))?.status ?? null;
  running.activity.open = true;
  try {
    expect(await codeOf(remove(owner, service_id))).toBe('conflict');
    expect(await status()).toBe('active');
    expect(await remove(owner, service_id, { mode: 'close' })).toBeNull();
    expect([await status(), await isValid(api_key)]).toEqual(['closing', true]);
    running.activity.endsAt = running.now() + 2 * DAY * 1000;
    await running.passSeconds(30 * DAY);
    await running.endServices();
    expect(await status()).toBe('closing');
    running.activity.open = false;
    await running.passSeconds(HOUR);
    await running.endServices();
    expect(await status()).toBe('closing');
    await running.passSeconds(2 * DAY);
    await running.endServices();
    expect([await status(), await isValid(api_key)]).toEqual([null, false]);
  } finally {
    Object.assign(running.activity, { open: false, endsAt: null });
  }
});

test('a quote that is created during the deletion keeps the service active', async () => {
  const { owner } = await signedIn();
  const { service_id, api_key } = await create(owner);
  running.activity.onQuery = async () => {
    const service = await running.findService(service_id);
    if (service?.status === 'closing') running.activity.open = true;
  };
  try {
    expect(await codeOf(remove(owner, service_id))).toBe('conflict');
    expect((await running.findService(service_id))!.status).toBe('active');
    expect(await isValid(api_key)).toBe(true);
  } finally {
    Object.assign(running.activity, { open: false, onQuery: async () => {} });
  }
});
