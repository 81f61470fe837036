import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import { keyHash } from '../../../shared/lib/key-text.ts';
import { callerOf, PAYOUT, startIdentity } from '../../../test/support/identity.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 60_000);
afterAll(() => running.stop(), 30_000);

type Owner = Principal & { kind: 'jwt' };
const HOUR = 3600;
const DAY = 24 * HOUR;
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: ServiceError) => error.code,
  );
const isoIn = (seconds: number) => new Date(running.now() + seconds * 1000).toISOString();
const stale = (owner: Owner): Owner => ({ ...owner, auth_time: 0 });
const signedIn = async () => {
  const session = await running.signIn();
  return { owner: callerOf(session), address: session.account.email };
};
const untilMailed = async (address: string, words: string): Promise<void> => {
  for (let tries = 0; tries < 250; tries += 1) {
    if (running.smtp.mailsTo(address).some(({ text }) => text.includes(words))) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no mail with ${words}`);
};
const isLive = async (apiKey: string) => (await running.findKey(keyHash(apiKey))) !== null;

describe('delegates', () => {
  const create = (owner: Owner, body: object = {}) =>
    running.ask(
      'createDelegate',
      { name: 'Robot', wallet_id: running.newWallet(owner.account_id), limits: {}, ...body },
      owner,
    );
  const patch = (owner: Owner, delegate_id: string, body: object) =>
    running.ask('updateDelegate', { delegate_id, ...body }, owner);

  test('made with its limits, read by its account and its key, in pages', async () => {
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
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'validation_error'],
    ['an end that is no date', { expires_at: '2999-02-30T00:00:00Z' }, 'validation_error'],
    ['a limit of zero', { limits: { daily: '0' } }, 'validation_error'],
    ['a limit beyond 2^63-1', { limits: { daily: '9223372036854775808' } }, 'validation_error'],
    ['a limit that is a number', { limits: { daily: 5 } }, 'validation_error'],
    ['a limit that is not known', { limits: { weekly: '5' } }, 'validation_error'],
    ['no service allowed', { allowed_service_ids: [] }, 'validation_error'],
    ['what it has spent', { usage: {} }, 'validation_error'],
    ['another account', { account_id: newId('acct') }, 'validation_error'],
  ])('is not made with %s', async (_name, body, code) => {
    const { owner } = await signedIn();
    const before = await running.count('keys');
    expect(await codeOf(create(owner, body))).toBe(code);
    expect(await running.count('keys')).toBe(before);
  });

  test('ends by the clock: its keys are nothing from then on, and a fresh sign-in can extend it', async () => {
    const { owner } = await signedIn();
    const { delegate_id, api_key } = await create(owner, { expires_at: isoIn(HOUR) });
    await running.passSeconds(HOUR - 5);
    expect(await isLive(api_key)).toBe(true);
    await running.passSeconds(5);
    expect(await isLive(api_key)).toBe(false);
    expect((await running.ask('getDelegate', { delegate_id }, owner)).status).toBe('expired');
    const longer = { expires_at: isoIn(DAY) };
    expect(await codeOf(patch(stale(owner), delegate_id, longer))).toBe('reauthentication_required');
    expect((await patch(callerOf(await running.signIn()), delegate_id, longer).catch((e) => e)).code).toBe(
      'not_found',
    );
    const fresh = { ...owner, auth_time: Math.floor(running.now() / 1000) };
    expect((await patch(fresh, delegate_id, longer)).status).toBe('active');
    expect(await isLive(api_key)).toBe(true);
  });

  test.each([
    ['a higher limit', { limits: { daily: '11' } }, false],
    ['a limit removed', { limits: { daily: null } }, false],
    ['another service', { allowed_service_ids: [crypto.randomUUID()] }, false],
    ['any service', { allowed_service_ids: null }, false],
    ['no end', { expires_at: null }, false],
    ['a lower limit', { limits: { daily: '9' } }, true],
    ['one more limit', { limits: { total: '9' } }, true],
    ['another name', { name: 'Android' }, true],
  ])('an old sign-in and %s: allowed %#', async (_name, change, allowed) => {
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

  test('changes at once: each changes what it has seen, or nothing', async () => {
    const { owner } = await signedIn();
    const { delegate_id } = await create(owner, { limits: { daily: '1000' } });
    const answers = await atOnce(16, (i) =>
      codeOf(patch(owner, delegate_id, { limits: { daily: `${900 + i}` } })),
    );
    const { ok = 0, conflict = 0 } = tally(answers);
    expect([ok >= 1, ok + conflict]).toEqual([true, 16]);
  });

  test('deleted: its keys and links end at once, its owner is told, it is gone for its account', async () => {
    const { owner, address } = await signedIn();
    const { delegate_id, api_key } = await create(owner);
    await running.ask('revealDelegateKey', { delegate_id }, owner);
    await untilMailed(address, '#token=rv_test_');
    const text = running.smtp.mailsTo(address).find((mail) => mail.text.includes('#token=rv_'))!.text;
    const token = /rv_test_[A-Za-z0-9_-]{43}/.exec(text)![0];
    const { owner: other } = await signedIn();
    expect(await codeOf(running.ask('deleteDelegate', { delegate_id }, other))).toBe('not_found');
    expect(await isLive(api_key)).toBe(true);
    expect(await running.ask('deleteDelegate', { delegate_id }, owner)).toBeNull();
    expect(await isLive(api_key)).toBe(false);
    expect(running.endedHashes()).toContain(keyHash(api_key));
    const dead = [
      running.ask('getDelegate', { delegate_id }, owner),
      running.ask('deleteDelegate', { delegate_id }, owner),
      running.ask('rotateDelegateKey', { delegate_id }, owner),
      patch(owner, delegate_id, { name: 'x' }),
    ];
    expect(tally(await Promise.all(dead.map(codeOf)))).toEqual({ not_found: 4 });
    expect(await codeOf(running.ask('verifyDelegateReveal', { delegate_id, token }))).toBe('unauthorized');
    expect(await running.ask('listDelegates', {}, owner)).toEqual({ data: [], next_cursor: null });
    await untilMailed(address, 'because it was deleted');
  });

  test('a deletion that meets rotations leaves no live key', async () => {
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
});

describe('services', () => {
  const create = (owner: Owner, body: object = {}) =>
    running.ask(
      'createService',
      { name: 'Weather', price: '2500000', payout_address: PAYOUT, ...body },
      owner,
    );
  const patch = (owner: Owner, service_id: string, body: object) =>
    running.ask('updateService', { service_id, ...body }, owner);
  const remove = (owner: Owner, service_id: string, body: object = {}) =>
    running.ask('deleteService', { service_id, ...body }, owner);
  const OTHER = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

  test('what is changed is changed, the rest stays', async () => {
    const { owner } = await signedIn();
    const { api_key: _key, ...made } = await create(owner, { key_grace_hours: 0 });
    const change = { name: 'Rain', price: '1', redeem_window_seconds: 60, key_grace_hours: 168 };
    expect(await patch(stale(owner), made.service_id, change)).toEqual({ ...made, ...change });
    expect(await patch(owner, made.service_id, {})).toEqual({ ...made, ...change });
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
  ])('a change of %j is refused', async (change) => {
    const { owner } = await signedIn();
    const { service_id } = await create(owner);
    expect(await codeOf(patch(owner, service_id, change))).toBe('validation_error');
  });

  test('a grace of 0 hours ends the old key with the rotation', async () => {
    const { owner } = await signedIn();
    const { service_id, api_key } = await create(owner, { key_grace_hours: 0 });
    await running.ask('rotateServiceKey', { service_id }, owner);
    expect(await isLive(api_key)).toBe(false);
  });

  test('a payout address changes by a fresh sign-in, after the delay, and the owner is told', async () => {
    const { owner, address } = await signedIn();
    const { service_id } = await create(owner);
    const change = { payout_address: OTHER };
    expect(await codeOf(patch(stale(owner), service_id, change))).toBe('reauthentication_required');
    const waiting = await patch(owner, service_id, change);
    expect(waiting).toMatchObject({ payout_address: PAYOUT, next_payout: { payout_address: OTHER } });
    const effective = waiting.next_payout!.effective_at;
    expect(Math.abs(Date.parse(effective) - running.now() - DAY * 1000)).toBeLessThan(10_000);
    await untilMailed(address, `to ${OTHER} from ${effective}`);
    expect((await running.findService(service_id))!.payout_address).toBe(PAYOUT);
    await running.passSeconds(DAY - 10);
    expect((await running.findService(service_id))!.payout_address).toBe(PAYOUT);
    await running.passSeconds(10);
    expect(await running.findService(service_id)).toMatchObject({ payout_address: OTHER, next_payout: null });
  });

  test('a waiting change is taken back by the present address, and replaced by another', async () => {
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
    // The change acts now, so the address before is the new one.
    expect(await patch(fresh(), service_id, { payout_address: PAYOUT })).toMatchObject({
      payout_address: OTHER,
      next_payout: { payout_address: PAYOUT },
    });
  });

  test('deleted while nothing is open: gone at once, keys ended, owner told', async () => {
    const { owner, address } = await signedIn();
    const { service_id, api_key } = await create(owner);
    expect(await codeOf(remove(callerOf(await running.signIn()), service_id))).toBe('not_found');
    expect(await remove(owner, service_id)).toBeNull();
    expect([await isLive(api_key), await running.findService(service_id)]).toEqual([false, null]);
    expect(running.endedHashes()).toContain(keyHash(api_key));
    expect(await codeOf(running.ask('getService', { service_id }, owner))).toBe('not_found');
    expect(await codeOf(remove(owner, service_id))).toBe('not_found');
    expect((await running.ask('listServices', {}, owner)).data).toEqual([]);
    await untilMailed(address, 'because it was deleted');
  });

  test('while something is open: refused; closed on request until the last window plus 30 days', async () => {
    const { owner } = await signedIn();
    const { service_id, api_key } = await create(owner);
    const status = async () => (await running.findService(service_id))?.status ?? null;
    running.activity.open = true;
    try {
      expect(await codeOf(remove(owner, service_id))).toBe('conflict');
      expect(await status()).toBe('active');
      expect(await remove(owner, service_id, { mode: 'close' })).toBeNull();
      expect([await status(), await isLive(api_key)]).toEqual(['closing', true]);
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
      expect([await status(), await isLive(api_key)]).toEqual([null, false]);
    } finally {
      Object.assign(running.activity, { open: false, endsAt: null });
    }
  }, 20_000);

  test('a quote that slips in while it is deleted keeps it alive', async () => {
    const { owner } = await signedIn();
    const { service_id, api_key } = await create(owner);
    const removing = codeOf(remove(owner, service_id));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await running.findService(service_id))!.status).toBe('closing');
    running.activity.open = true;
    try {
      expect(await removing).toBe('conflict');
      expect((await running.findService(service_id))!.status).toBe('active');
      expect(await isLive(api_key)).toBe(true);
    } finally {
      running.activity.open = false;
    }
  });
});
