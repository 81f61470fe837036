import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { callerOf, FOREIGN_WALLET, type Session, startIdentity } from '../../../test/support/identity.ts';
import { tally } from '../../../test/support/stack.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 60_000);
afterAll(() => running.stop(), 30_000);

const refused = (code: string) => ({ name: 'ServiceError', code });
const outcomes = async (calls: Promise<unknown>[]) =>
  tally(
    (await Promise.allSettled(calls)).map((result) =>
      result.status === 'fulfilled' ? 'ok' : (result.reason as ServiceError).code,
    ),
  );

test('the account of the sign-in', async () => {
  const session = await running.signIn();
  expect(await running.ask('getAccount', {}, callerOf(session))).toEqual({
    ...session.account,
    display_name: null,
    created_at: expect.stringMatching(/Z$/),
  });
});

describe('settings', () => {
  const fresh = {
    display_name: null,
    default_wallet_id: null,
    mail_key_events: true,
    mail_payments: false,
    spending_alert_threshold: null,
  };
  const settings = (session: Session) => running.ask('getSettings', {}, callerOf(session));
  const change = (session: Session, body: object) => running.ask('updateSettings', body, callerOf(session));

  test('have defaults; a change leaves the rest as it is; null takes back', async () => {
    const session = await running.signIn();
    expect(await settings(session)).toEqual(fresh);
    const wallet = newId('wal');
    await change(session, { display_name: 'Ada', spending_alert_threshold: '9223372036854775807' });
    await change(session, { mail_payments: true, default_wallet_id: wallet });
    expect(await settings(session)).toEqual({
      ...fresh,
      display_name: 'Ada',
      default_wallet_id: wallet,
      mail_payments: true,
      spending_alert_threshold: '9223372036854775807',
    });
    const all = { display_name: null, default_wallet_id: null, spending_alert_threshold: null };
    expect(await change(session, all)).toEqual({ ...fresh, mail_payments: true });
    expect(await change(session, {})).toEqual({ ...fresh, mail_payments: true });
    expect((await running.ask('getAccount', {}, callerOf(session))).display_name).toBeNull();
  });

  test('changes at once all come to stand', async () => {
    const session = await running.signIn();
    await Promise.all([
      change(session, { display_name: 'Ada' }),
      change(session, { mail_payments: true }),
      change(session, { mail_key_events: false }),
      change(session, { spending_alert_threshold: '5' }),
    ]);
    expect(await settings(session)).toMatchObject({
      display_name: 'Ada',
      mail_payments: true,
      mail_key_events: false,
      spending_alert_threshold: '5',
    });
  });

  test.each([
    ['an unknown field', { theme: 'dark' }],
    ['an account', { account_id: newId('acct') }],
    ['an address', { email: 'eve@example.com' }],
    ['text as a switch', { mail_payments: 'false' }],
    ['null as a switch', { mail_key_events: null }],
    ['a number as amount', { spending_alert_threshold: 5 }],
    ['zero as amount', { spending_alert_threshold: '0' }],
    ['2^63 as amount', { spending_alert_threshold: '9223372036854775808' }],
    ['an empty name', { display_name: '' }],
    ['a name of 81 characters', { display_name: 'a'.repeat(81) }],
    ['a name with a line break', { display_name: 'Ada\r\nBcc: eve@example.com' }],
    ['something else as wallet', { default_wallet_id: 'wal_1' }],
    ["another account's wallet", { display_name: 'Eve', default_wallet_id: FOREIGN_WALLET }],
  ])('refuse %s, and nothing is changed', async (_name, body) => {
    const session = await running.signIn();
    await expect(change(session, body)).rejects.toMatchObject(refused('validation_error'));
    expect(await settings(session)).toEqual(fresh);
  });
});

describe('sign-ins', () => {
  const list = async (session: Session) => (await running.ask('listSessions', {}, callerOf(session))).data;
  const end = (session: Session, session_id: string) =>
    running.ask('deleteSession', { session_id }, callerOf(session));

  test('are listed, the current one marked, in pages; ended ones are gone', async () => {
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

    expect(await end(first, ids[0]!)).toBeNull();
    expect(await running.isOpen(third)).toBe(false);
    expect(await list(first)).toHaveLength(2);
    // Ending an ended one is no error: the client may not have heard.
    expect(await end(first, ids[0]!)).toBeNull();
    await expect(running.ask('refresh', { refresh_token: third.refresh_token })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });

  test("another account's does not exist", async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    for (const id of [callerOf(theirs).session_id, newId('ses')]) {
      await expect(end(mine, id)).rejects.toMatchObject(refused('not_found'));
    }
    expect(await running.isOpen(theirs)).toBe(true);
  });

  test('every end is told to the gateways: signing out, ending it from elsewhere, a reused refresh token', async () => {
    const address = running.newAddress();
    const [out, elsewhere, stolen] = [
      await running.signIn(address),
      await running.signIn(address),
      await running.signIn(address),
    ];
    await running.ask('logout', {}, callerOf(out));
    await end(stolen, callerOf(elsewhere).session_id);
    const second = await running.ask('refresh', { refresh_token: stolen.refresh_token });
    await running.ask('refresh', { refresh_token: second.refresh_token });
    await expect(running.ask('refresh', { refresh_token: stolen.refresh_token })).rejects.toMatchObject(
      refused('unauthorized'),
    );
    const { account_id } = out.account;
    for (const session of [out, elsewhere, stolen]) {
      expect(await running.overheard({ account_id, session_id: callerOf(session).session_id })).toBe(true);
    }
  });
});

test('64 uses of one link: one sign-in', async () => {
  const token = await running.linkFor(running.newAddress());
  const calls = Array.from({ length: 64 }, () => running.ask('verifyMagicLink', { token }));
  expect(await outcomes(calls)).toEqual({ ok: 1, unauthorized: 63 });
});

test('64 uses of one refresh token: one successor, which goes on working', async () => {
  const { refresh_token } = await running.signIn();
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => running.ask('refresh', { refresh_token })),
  );
  const successors = new Set(answers.map((answer) => answer.refresh_token));
  expect(successors.size).toBe(1);
  await running.ask('refresh', { refresh_token: [...successors][0]! });
});

test('64 uses of an old refresh token: none gets anything, and the sign-in has ended once', async () => {
  const first = await running.signIn();
  const second = await running.ask('refresh', { refresh_token: first.refresh_token });
  const third = await running.ask('refresh', { refresh_token: second.refresh_token });
  const calls = Array.from({ length: 64 }, () =>
    running.ask('refresh', { refresh_token: first.refresh_token }),
  );
  expect(await outcomes(calls)).toEqual({ unauthorized: 64 });
  expect(await running.isOpen(third)).toBe(false);
});
