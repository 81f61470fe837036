import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseKeyText } from '../../../shared/lib/key-text.ts';
import {
  callerOf,
  PAYOUT,
  REFUSED_PAYOUT,
  type Session,
  startIdentity,
} from '../../../test/support/identity.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 60_000);
afterAll(() => running.stop(), 30_000);

const DAY = 86_400;
const refused = (code: string) => ({ name: 'ServiceError', code });

describe('refresh', () => {
  const refresh = ({ refresh_token }: Session) => running.ask('refresh', { refresh_token });

  test('gives a new pair and keeps the time of the sign-in', async () => {
    const session = await running.signIn();
    await running.passSeconds(60);
    const next = await refresh(session);
    expect(next.refresh_token).not.toBe(session.refresh_token);
    expect(callerOf(next)).toEqual(callerOf(session));
  });

  test('16 in parallel get one and the same successor', async () => {
    const session = await running.signIn();
    const answers = await Promise.all(Array.from({ length: 16 }, () => refresh(session)));
    expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
    const { session_id } = callerOf(session);
    expect(await running.count('sessions', `session_id = '${session_id}' and generation = 2`)).toBe(1);
    expect((await refresh(answers[0]!)).refresh_token).not.toBe(answers[0]!.refresh_token);
  });

  test('the direct predecessor gets the same successor for 10 s, then ends the sign-in', async () => {
    const session = await running.signIn();
    const next = await refresh(session);
    await running.passSeconds(9);
    expect((await refresh(session)).refresh_token).toBe(next.refresh_token);
    await running.passSeconds(2);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.isOpen(next)).toBe(false);
  });

  test('reuse of an older token ends the whole sign-in', async () => {
    const session = await running.signIn();
    const second = await refresh(session);
    const third = await refresh(second);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    await expect(refresh(third)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.isOpen(third)).toBe(false);
  });

  test('ends after 7 idle days', async () => {
    const [used, idle] = [await running.signIn(), await running.signIn()];
    await running.passSeconds(7 * DAY - 60);
    await refresh(used);
    await running.passSeconds(61);
    await expect(refresh(idle)).rejects.toMatchObject(refused('unauthorized'));
    expect([await running.isOpen(used), await running.isOpen(idle)]).toEqual([true, false]);
  });

  test('ends 30 days after the sign-in, however often it was used', async () => {
    let session = await running.signIn();
    for (let day = 0; day < 30; day += 6) {
      await running.passSeconds(6 * DAY - (day === 24 ? 60 : 0));
      session = await refresh(session);
    }
    await running.passSeconds(61);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.isOpen(session)).toBe(false);
  });

  test('a token with another session in it is not ours', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const mixed = mine.refresh_token.slice(0, 34) + theirs.refresh_token.slice(34);
    await expect(running.ask('refresh', { refresh_token: mixed })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });
});

describe('logout', () => {
  test('ends this sign-in at once and no other', async () => {
    const [here, there] = [await running.signIn(), await running.signIn()];
    expect(await running.ask('logout', {}, callerOf(here))).toBeNull();
    expect([await running.isOpen(here), await running.isOpen(there)]).toEqual([false, true]);
    await expect(running.ask('refresh', { refresh_token: here.refresh_token })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });

  test("cannot end another account's, by its id or by its refresh token", async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const { session_id } = callerOf(theirs);
    const refresh_token = theirs.refresh_token;
    await running.ask('logout', { refresh_token }, { ...callerOf(mine), session_id });
    expect(await running.isOpen(theirs)).toBe(true);
  });
});

describe('services', () => {
  const body = { name: 'Weather', price: '2500000', payout_address: PAYOUT };

  test('a service is made with a key that finds its principal', async () => {
    const owner = callerOf(await running.signIn());
    const { api_key, ...created } = await running.ask('createService', body, owner);
    expect(created).toMatchObject({ ...body, redeem_window_seconds: 900, status: 'active' });
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
    expect(await running.findService(created.service_id)).toEqual({
      ...created,
      account_id: owner.account_id,
    });

    const end = (when: string) =>
      running.admin.query(
        `update identity.keys set revoked_at = public.app_now() + $2::interval where key_hash = $1`,
        [key_hash, when],
      );
    await end('1 minute');
    expect(await find()).toEqual(principal);
    await running.passSeconds(60);
    expect(await find()).toBeNull();
  });

  test('unknown keys and services are null', async () => {
    expect(await running.findKey('A'.repeat(43))).toBeNull();
    const service_id = '00000000-0000-4000-8000-000000000000';
    expect(await running.findService(service_id)).toBeNull();
  });

  test('a refused payout address writes nothing', async () => {
    const before = await running.count('services');
    const owner = callerOf(await running.signIn());
    await expect(
      running.ask('createService', { ...body, payout_address: REFUSED_PAYOUT }, owner),
    ).rejects.toMatchObject(refused('validation_error'));
    expect(await running.count('services')).toBe(before);
  });

  test("another account's service does not exist", async () => {
    const [owner, other] = [callerOf(await running.signIn()), callerOf(await running.signIn())];
    const { service_id } = await running.ask('createService', body, owner);
    await expect(running.ask('getService', { service_id }, other)).rejects.toMatchObject(
      refused('not_found'),
    );
    expect(await running.ask('listServices', {}, other)).toEqual({ data: [], next_cursor: null });
  });

  test('the list is in pages, newest first; a cursor is good for its own account alone', async () => {
    const [owner, other] = [callerOf(await running.signIn()), callerOf(await running.signIn())];
    const made: string[] = [];
    for (let i = 0; i < 5; i += 1) made.unshift((await running.ask('createService', body, owner)).service_id);
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
  ] as [string, Principal][])('cannot be made with %s', async (_name, caller) => {
    await expect(running.ask('createService', body, caller)).rejects.toMatchObject(refused('forbidden'));
  });

  test('fields that are not the caller’s to set are refused', async () => {
    const owner = callerOf(await running.signIn());
    const foreign = { ...body, account_id: newId('acct') };
    await expect(running.ask('createService', foreign, owner)).rejects.toMatchObject(
      refused('validation_error'),
    );
  });
});

test('no secret is at rest', async () => {
  const unused = await running.linkFor(running.newAddress());
  const session = await running.signIn();
  const { api_key } = await running.ask(
    'createService',
    { name: 'Secrets', price: '1', payout_address: PAYOUT },
    callerOf(session),
  );
  const tables = ['accounts', 'login_links', 'sessions', 'services', 'keys', 'mails', 'outbox', 'quarantine'];
  const found: unknown[] = [];
  for (const table of tables) found.push((await running.admin.query(`select * from identity.${table}`)).rows);
  const dump = JSON.stringify(found);
  for (const secret of [unused, session.access_token, session.refresh_token, api_key]) {
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(secret.slice(-40));
  }
});
