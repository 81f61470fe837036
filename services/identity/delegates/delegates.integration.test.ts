import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import { keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { repeatUntilAnswered } from '../../../test/support/base/repeat-until-answered.ts';
import { callerOf, codeOf, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

type Owner = Principal & { kind: 'jwt' };
const HOUR = 3600;
const DAY = 24 * HOUR;
const isoIn = (seconds: number) => new Date(running.now() + seconds * 1000).toISOString();
const stale = (owner: Owner): Owner => ({ ...owner, auth_time: 0 });
const signedIn = async () => {
  const session = await running.signIn();
  return { owner: callerOf(session), address: session.account.email };
};
const untilMailed = (address: string, part: string) =>
  running.mailTo(address, ({ text }) => text.includes(part));
const isValid = async (apiKey: string) => (await running.findKey(keyHash(apiKey))) !== null;

const create = (owner: Owner, body: object = {}) =>
  running.ask(
    'createDelegate',
    { name: 'Robot', wallet_id: running.newWallet(owner.account_id), limits: {}, ...body },
    owner,
  );
const patch = (owner: Owner, delegate_id: string, body: object) =>
  running.ask('updateDelegate', { delegate_id, ...body }, owner);

const SERVICE = crypto.randomUUID();
const PAYEE = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const ANY = { pay_to: 'any', origins: null };

test('a delegate may pay other vendors only with the right, and more of it needs a fresh sign-in', async () => {
  const { owner } = await signedIn();
  const made = await create(owner);
  expect(made).toMatchObject({ external: null, approval_above: null });
  const { delegate_id } = made;
  const one = { pay_to: [PAYEE], origins: ['https://a.example', 'http://127.0.0.1:4000'] };
  const refused = (body: object) => codeOf(patch(stale(owner), delegate_id, body));
  expect(await refused({ external: one })).toBe('reauthentication_required');
  expect(await patch(owner, delegate_id, { external: one, approval_above: '5' })).toMatchObject({
    external: one,
    approval_above: '5',
  });
  for (const more of [
    { external: { ...one, pay_to: 'any' } },
    { external: { ...one, origins: null } },
    { approval_above: '6' },
    { approval_above: null },
  ])
    expect(await refused(more)).toBe('reauthentication_required');
  // Both cannot be set, whatever call sets the second one.
  expect(await codeOf(patch(owner, delegate_id, { allowed_service_ids: [SERVICE] }))).toBe(
    'validation_error',
  );
  const less = { external: { ...one, origins: ['https://a.example'] }, approval_above: '4' };
  expect(await patch(stale(owner), delegate_id, less)).toMatchObject(less);
  expect(await patch(stale(owner), delegate_id, { name: 'Renamed' })).toMatchObject(less);
  const restricted = { external: null, allowed_service_ids: [SERVICE] };
  expect(await patch(stale(owner), delegate_id, restricted)).toMatchObject({
    ...restricted,
    approval_above: '4',
  });
  expect(await running.ask('getDelegate', { delegate_id }, owner)).toMatchObject(restricted);
});

test('its owner hears of a delegate that may do more, and always of one that may pay other vendors', async () => {
  const { owner, address } = await signedIn();
  await running.ask('updateSettings', { mail_key_events: false }, owner);
  const { delegate_id } = await create(owner, { limits: { daily: '5' } });
  await patch(owner, delegate_id, { limits: { daily: '6' } });
  await patch(owner, delegate_id, { limits: { daily: '4' } });
  await patch(owner, delegate_id, { external: { pay_to: 'any', origins: null } });
  const { data } = await running.ask('listSecurityEvents', {}, owner);
  const about = data.filter(({ details }) => details.delegate_id === delegate_id);
  expect(about.map(({ kind }) => kind)).toEqual(['external_allowed', 'delegate_widened', 'delegate_created']);
  expect(about[0]!.details).toEqual({ delegate_id, name: 'Robot' });
  await running.allHandledAndMailed();
  const subjects = running.smtp.mailsTo(address).map(({ subject }) => subject);
  expect(subjects.filter((subject) => /^An agent may/.test(subject))).toEqual([
    expect.stringContaining('An agent may pay vendors outside Quittance'),
  ]);
});

test('its owner pauses a delegate at once, and resumes it with a fresh sign-in only', async () => {
  const { owner } = await signedIn();
  const { delegate_id, limits } = await create(owner);
  expect(await patch(stale(owner), delegate_id, { paused: true })).toMatchObject({
    status: 'paused',
    limits,
  });
  // A change of something else leaves it paused.
  expect(await patch(stale(owner), delegate_id, { name: 'Renamed' })).toMatchObject({ status: 'paused' });
  expect(await codeOf(patch(stale(owner), delegate_id, { paused: false }))).toBe('reauthentication_required');
  expect(await patch(owner, delegate_id, { paused: false })).toMatchObject({ status: 'active' });
});

test('a delegate is created with its limits, read by its account and its key, and listed in pages', async () => {
  const { owner } = await signedIn();
  const expires_at = isoIn(DAY);
  const service_id = crypto.randomUUID();
  const limits = { per_payment: '1', daily: '2', total: '9223372036854775807' };
  const { api_key, ...made } = await create(owner, {
    limits,
    expires_at,
    allowed_service_ids: [service_id],
  });
  expect(made).toMatchObject({
    name: 'Robot',
    limits: { ...limits, monthly: null },
    allowed_service_ids: [service_id],
    expires_at,
    status: 'active',
    usage: {
      daily: { spent: '0', held: '0', remaining: '2', resets_at: expect.stringMatching(/T00:00:00.000Z$/) },
      monthly: { remaining: null, resets_at: expect.stringMatching(/-01T00:00:00.000Z$/) },
      total: { remaining: limits.total, resets_at: null },
    },
  });
  const { delegate_id } = made;
  const key = (await running.findKey(keyHash(api_key)))!;
  expect(key).toEqual({
    kind: 'delegate_key',
    account_id: owner.account_id,
    delegate_id,
    wallet_id: made.wallet_id,
    key_id: expect.stringMatching(/^key_/),
  });
  expect(await running.ask('getOwnDelegate', {}, key)).toEqual(made);
  expect(await running.ask('getDelegate', { delegate_id }, owner)).toEqual(made);

  const more = [await create(owner), await create(owner)].map((each) => each.delegate_id);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await running.ask('listDelegates', { limit: '2', ...(cursor && { cursor }) }, owner);
    seen.push(...page.data.map((each) => each.delegate_id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual([more[1], more[0], delegate_id]);
});

test.each([
  ['another account’s wallet', { wallet_id: newId('wal') }, 'not_found'],
  ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'validation_error'],
  ['an expiry that is no date', { expires_at: '2999-02-30T00:00:00Z' }, 'validation_error'],
  ['a limit of zero', { limits: { daily: '0' } }, 'validation_error'],
  ['a limit beyond 2^63-1', { limits: { daily: '9223372036854775808' } }, 'validation_error'],
  ['a limit that is a number', { limits: { daily: 5 } }, 'validation_error'],
  ['an unknown limit', { limits: { weekly: '5' } }, 'validation_error'],
  ['no service allowed', { allowed_service_ids: [] }, 'validation_error'],
  [
    'other vendors and certain services',
    { external: ANY, allowed_service_ids: [SERVICE] },
    'validation_error',
  ],
  ['an origin with a path', { external: { ...ANY, origins: ['https://a.example/b'] } }, 'validation_error'],
  ['no payee', { external: { ...ANY, pay_to: [] } }, 'validation_error'],
  ['a usage', { usage: {} }, 'validation_error'],
  ['another account', { account_id: newId('acct') }, 'validation_error'],
])('a delegate is not created with %s', async (_name, body, code) => {
  const { owner } = await signedIn();
  const before = await running.count('keys');
  expect(await codeOf(create(owner, body))).toBe(code);
  expect(await running.count('keys')).toBe(before);
});

test('an expired delegate’s keys are invalid, and a fresh sign-in can extend the expiry', async () => {
  const { owner } = await signedIn();
  const { delegate_id, api_key } = await create(owner, { expires_at: isoIn(HOUR) });
  await running.passSeconds(HOUR - 5);
  expect(await isValid(api_key)).toBe(true);
  await running.passSeconds(5);
  expect(await isValid(api_key)).toBe(false);
  expect(await running.findKeyRefusal(keyHash(api_key))).toMatchObject({ refused: 'delegate_expired' });
  expect((await running.ask('getDelegate', { delegate_id }, owner)).status).toBe('expired');
  const longer = { expires_at: isoIn(DAY) };
  expect(await codeOf(patch(stale(owner), delegate_id, longer))).toBe('reauthentication_required');
  expect((await patch(callerOf(await running.signIn()), delegate_id, longer).catch((e) => e)).code).toBe(
    'not_found',
  );
  const fresh = { ...owner, auth_time: Math.floor(running.now() / 1000) };
  expect((await patch(fresh, delegate_id, longer)).status).toBe('active');
  expect(await isValid(api_key)).toBe(true);
});

test.each([
  ['a higher limit', { limits: { daily: '11' } }, false],
  ['a limit removed', { limits: { daily: null } }, false],
  ['another service', { allowed_service_ids: [crypto.randomUUID()] }, false],
  ['any service', { allowed_service_ids: null }, false],
  ['no expiry', { expires_at: null }, false],
  ['a lower limit', { limits: { daily: '9' } }, true],
  ['one more limit', { limits: { total: '9' } }, true],
  ['another name', { name: 'Android' }, true],
])('a change to %s with an old sign-in (case %#)', async (_name, change, allowed) => {
  const { owner } = await signedIn();
  const body = {
    limits: { daily: '10' },
    allowed_service_ids: [crypto.randomUUID()],
    expires_at: isoIn(DAY),
  };
  const { delegate_id, api_key: _key, ...made } = await create(owner, body);
  const answer = await codeOf(patch(stale(owner), delegate_id, change));
  expect(answer).toBe(allowed ? 'ok' : 'reauthentication_required');
  const after = await running.ask('getDelegate', { delegate_id }, owner);
  if (!allowed) expect(after).toEqual({ delegate_id, ...made });
  expect(await codeOf(patch(owner, delegate_id, change))).toBe('ok');
});

test('concurrent updates change the version that they read, or nothing', async () => {
  const { owner } = await signedIn();
  const { delegate_id } = await create(owner, { limits: { daily: '1000' } });
  const answers = await atOnce(16, (i) =>
    codeOf(repeatUntilAnswered(() => patch(owner, delegate_id, { limits: { daily: `${900 + i}` } }))),
  );
  const { ok = 0, conflict = 0 } = tally(answers);
  expect([ok >= 1, ok + conflict]).toEqual([true, 16]);
});

test('a deletion revokes keys and links at once, and notifies the owner', async () => {
  const { owner, address } = await signedIn();
  const { delegate_id, api_key } = await create(owner);
  await running.ask('revealDelegateKey', { delegate_id }, owner);
  const { text } = await untilMailed(address, '#token=rv_test_');
  const token = /rv_test_[A-Za-z0-9_-]{43}/.exec(text)![0];
  const { owner: other } = await signedIn();
  expect(await codeOf(running.ask('deleteDelegate', { delegate_id }, other))).toBe('not_found');
  expect(await isValid(api_key)).toBe(true);
  expect(await running.ask('deleteDelegate', { delegate_id }, owner)).toBeNull();
  expect(await isValid(api_key)).toBe(false);
  expect(await running.findKeyRefusal(keyHash(api_key))).toMatchObject({ refused: 'delegate_deleted' });
  expect(running.revokedHashes()).toContain(keyHash(api_key));
  const refusedCalls = [
    running.ask('getDelegate', { delegate_id }, owner),
    running.ask('deleteDelegate', { delegate_id }, owner),
    running.ask('rotateDelegateKey', { delegate_id }, owner),
    patch(owner, delegate_id, { name: 'x' }),
  ];
  expect(tally(await Promise.all(refusedCalls.map(codeOf)))).toEqual({ not_found: 4 });
  expect(await codeOf(running.ask('verifyDelegateReveal', { delegate_id, token }))).toBe('unauthorized');
  expect(await running.ask('listDelegates', {}, owner)).toEqual({ data: [], next_cursor: null });
  const revoked = await running.ask('listDelegates', { status: 'revoked' }, owner);
  expect(revoked.data).toMatchObject([
    { delegate_id, status: 'revoked', revoked_at: expect.stringMatching(/^20.*Z$/) },
  ]);
  expect(await running.ask('listDelegates', { status: 'revoked' }, other)).toMatchObject({ data: [] });
  await untilMailed(address, 'was deleted, so all its keys were revoked');
});

test('a deletion during concurrent rotations leaves no valid key', async () => {
  const { owner } = await signedIn();
  const { delegate_id } = await create(owner);
  const rotate = () => codeOf(running.ask('rotateDelegateKey', { delegate_id }, owner));
  const answers = await atOnce(32, async (i) =>
    i === 16 ? codeOf(running.ask('deleteDelegate', { delegate_id }, owner)) : rotate(),
  );
  expect(answers[16]).toBe('ok');
  expect(
    await running.count(
      'keys',
      `delegate_id = '${delegate_id}' and (revoked_at is null or revoked_at > public.app_now())`,
    ),
  ).toBe(0);
});
