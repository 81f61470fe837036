import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { callerOf, PAYOUT, type Session, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { tally } from '../../../test/support/servers/stack.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const DAY = 86_400;
const refused = (code: string) => ({ name: 'ServiceError', code });
const outcomes = async (calls: Promise<unknown>[]) =>
  tally(
    (await Promise.allSettled(calls)).map((result) =>
      result.status === 'fulfilled' ? 'ok' : (result.reason as ServiceError).code,
    ),
  );

describe('refresh', () => {
  const refresh = ({ refresh_token }: Session) => running.ask('refresh', { refresh_token });

  test('returns a new pair of tokens with the time of the sign-in', async () => {
    const session = await running.signIn();
    await running.passSeconds(60);
    const next = await refresh(session);
    expect(next.refresh_token).not.toBe(session.refresh_token);
    expect(callerOf(next)).toEqual(callerOf(session));
  });

  test('16 concurrent refreshes get the same successor', async () => {
    const session = await running.signIn();
    const answers = await Promise.all(Array.from({ length: 16 }, () => refresh(session)));
    expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
    const { session_id } = callerOf(session);
    expect(await running.count('sessions', `session_id = '${session_id}' and generation = 2`)).toBe(1);
    expect((await refresh(answers[0]!)).refresh_token).not.toBe(answers[0]!.refresh_token);
  });

  test('the direct predecessor gets the same successor for 10 s; after that it revokes the session', async () => {
    const session = await running.signIn();
    const next = await refresh(session);
    await running.passSeconds(9);
    expect((await refresh(session)).refresh_token).toBe(next.refresh_token);
    await running.passSeconds(2);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.isOpen(next)).toBe(false);
  });

  test('reuse of an older token revokes the session', async () => {
    const session = await running.signIn();
    const second = await refresh(session);
    const third = await refresh(second);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    await expect(refresh(third)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.isOpen(third)).toBe(false);
    // The owner hears of it once, whatever the settings are.
    const again = await running.signIn(session.account.email);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    const { data } = await running.ask('listSecurityEvents', {}, callerOf(again));
    expect(data.filter(({ kind }) => kind === 'session_reused')).toHaveLength(1);
    await running.allHandledAndMailed();
    const mails = running.smtp.mailsTo(session.account.email);
    expect(mails.filter(({ subject }) => /^A session was ended/.test(subject))).toHaveLength(1);
  });

  test('is refused after 7 idle days', async () => {
    const [used, idle] = [await running.signIn(), await running.signIn()];
    await running.passSeconds(7 * DAY - 60);
    await refresh(used);
    await running.passSeconds(61);
    await expect(refresh(idle)).rejects.toMatchObject(refused('unauthorized'));
    expect([await running.isOpen(used), await running.isOpen(idle)]).toEqual([true, false]);
  });

  test('is refused 30 days after the sign-in, however often the session was refreshed', async () => {
    let session = await running.signIn();
    for (let day = 0; day < 30; day += 6) {
      await running.passSeconds(6 * DAY - (day === 24 ? 60 : 0));
      session = await refresh(session);
    }
    await running.passSeconds(61);
    await expect(refresh(session)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.isOpen(session)).toBe(false);
  });

  test('a token with the id of another session is refused', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const mixed = mine.refresh_token.slice(0, 34) + theirs.refresh_token.slice(34);
    await expect(running.ask('refresh', { refresh_token: mixed })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });
});

describe('logout', () => {
  test('revokes this session at once and no other', async () => {
    const [here, there] = [await running.signIn(), await running.signIn()];
    expect(await running.ask('logout', {}, callerOf(here))).toBeNull();
    expect([await running.isOpen(here), await running.isOpen(there)]).toEqual([false, true]);
    await expect(running.ask('refresh', { refresh_token: here.refresh_token })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });

  test('cannot revoke a session of another account, by its id or by its refresh token', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const { session_id } = callerOf(theirs);
    const refresh_token = theirs.refresh_token;
    await running.ask('logout', { refresh_token }, { ...callerOf(mine), session_id });
    expect(await running.isOpen(theirs)).toBe(true);
  });
});

describe('sessions of an account', () => {
  const list = async (session: Session) => (await running.ask('listSessions', {}, callerOf(session))).data;
  const revoke = (session: Session, session_id: string) =>
    running.ask('deleteSession', { session_id }, callerOf(session));

  test('are listed in pages with the current one marked, without revoked ones', async () => {
    const address = running.newAddress();
    const first = await running.signIn(address);
    const second = await running.signIn(address);
    const third = await running.signIn(address);
    const ids = [third, second, first].map((each) => callerOf(each).session_id);
    expect((await list(second)).map(({ session_id, current }) => [session_id, current])).toEqual(
      ids.map((id) => [id, id === callerOf(second).session_id]),
    );
    const page = await running.ask('listSessions', { limit: '2' }, callerOf(first));
    expect(page.data.map(({ session_id }) => session_id)).toEqual(ids.slice(0, 2));
    const rest = await running.ask('listSessions', { cursor: page.next_cursor! }, callerOf(first));
    expect(rest.data.map(({ session_id }) => session_id)).toEqual(ids.slice(2));
    await expect(
      running.ask('listSessions', { cursor: page.next_cursor! }, callerOf(await running.signIn())),
    ).rejects.toMatchObject(refused('validation_error'));

    expect(await revoke(first, ids[0]!)).toBeNull();
    expect(await running.isOpen(third)).toBe(false);
    expect(await list(first)).toHaveLength(2);
    // A repeated deletion succeeds, because the first answer may have been lost.
    expect(await revoke(first, ids[0]!)).toBeNull();
    await expect(running.ask('refresh', { refresh_token: third.refresh_token })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });

  test('do not exist for another account', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    for (const id of [callerOf(theirs).session_id, newId('ses')]) {
      await expect(revoke(mine, id)).rejects.toMatchObject(refused('not_found'));
    }
    expect(await running.isOpen(theirs)).toBe(true);
  });

  test('are revoked at the gateways after a logout, a deletion or a reused refresh token', async () => {
    const address = running.newAddress();
    const [out, elsewhere, stolen] = [
      await running.signIn(address),
      await running.signIn(address),
      await running.signIn(address),
    ];
    await running.ask('logout', {}, callerOf(out));
    await revoke(stolen, callerOf(elsewhere).session_id);
    const second = await running.ask('refresh', { refresh_token: stolen.refresh_token });
    await running.ask('refresh', { refresh_token: second.refresh_token });
    await expect(running.ask('refresh', { refresh_token: stolen.refresh_token })).rejects.toMatchObject(
      refused('unauthorized'),
    );
    const { account_id } = out.account;
    for (const session of [out, elsewhere, stolen]) {
      await running.sessionRevoked({ account_id, session_id: callerOf(session).session_id });
    }
  });
});

test('64 concurrent uses of one link open one session', async () => {
  const token = await running.linkFor(running.newAddress());
  const calls = Array.from({ length: 64 }, () => running.ask('verifyMagicLink', { token }));
  expect(await outcomes(calls)).toEqual({ ok: 1, unauthorized: 63 });
});

test('64 concurrent uses of one refresh token get one successor, which is valid', async () => {
  const { refresh_token } = await running.signIn();
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => running.ask('refresh', { refresh_token })),
  );
  const successors = new Set(answers.map((answer) => answer.refresh_token));
  expect(successors.size).toBe(1);
  await running.ask('refresh', { refresh_token: [...successors][0]! });
});

test('64 concurrent uses of an old refresh token are refused, and the session is revoked', async () => {
  const first = await running.signIn();
  const second = await running.ask('refresh', { refresh_token: first.refresh_token });
  const third = await running.ask('refresh', { refresh_token: second.refresh_token });
  const calls = Array.from({ length: 64 }, () =>
    running.ask('refresh', { refresh_token: first.refresh_token }),
  );
  expect(await outcomes(calls)).toEqual({ unauthorized: 64 });
  expect(await running.isOpen(third)).toBe(false);
});

test('no table contains a secret', async () => {
  const unused = await running.linkFor(running.newAddress());
  const session = await running.signIn();
  const { api_key } = await running.ask(
    'createService',
    { name: 'Secrets', price: '20000', payout_address: PAYOUT },
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
