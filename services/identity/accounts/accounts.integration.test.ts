import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import {
  callerOf,
  FOREIGN_WALLET,
  type Session,
  startIdentity,
} from '../../../test/support/fixtures/identity.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const refused = (code: string) => ({ name: 'ServiceError', code });
test('an account is read by its sign-in', async () => {
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

  test('have defaults; a change leaves other fields; null resets a field', async () => {
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

  test('an aged sign-in cannot reduce what the owner hears of, or choose another wallet', async () => {
    const session = await running.signIn();
    const aged = (body: object) =>
      running.ask('updateSettings', body, { ...callerOf(session), auth_time: 0 });
    const warned = { mail_payments: true, spending_alert_threshold: '5000000' };
    await aged({ ...warned, display_name: 'Ada' });
    for (const body of [
      { mail_key_events: false },
      { mail_payments: false },
      { spending_alert_threshold: '5000001' },
      { spending_alert_threshold: null },
      { default_wallet_id: newId('wal'), display_name: 'Eve' },
    ])
      await expect(aged(body)).rejects.toMatchObject({ code: 'reauthentication_required' });
    expect(await settings(session)).toEqual({ ...fresh, ...warned, display_name: 'Ada' });
    await aged({ spending_alert_threshold: '4000000' });
    await change(session, { mail_payments: false, spending_alert_threshold: null });
    expect(await settings(session)).toEqual({ ...fresh, display_name: 'Ada' });
  });

  test('concurrent changes of different fields are all stored', async () => {
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
    ['a malformed wallet', { default_wallet_id: 'wal_1' }],
    ["another account's wallet", { display_name: 'Eve', default_wallet_id: FOREIGN_WALLET }],
  ])('refuse %s and change nothing', async (_name, body) => {
    const session = await running.signIn();
    await expect(change(session, body)).rejects.toMatchObject(refused('validation_error'));
    expect(await settings(session)).toEqual(fresh);
  });
});
