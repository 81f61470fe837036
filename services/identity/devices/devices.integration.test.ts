import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { identity } from '../../../shared/contract/identity.ts';
import { callerOf, codeOf, type Session, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { tally } from '../../../test/support/servers/stack.ts';
import { purge } from '../operator/purge.ts';
import { insertDeviceSignIn } from './store/device_sign_ins.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const MINUTE = 60;
const start = (client_name = 'quittance on build-7') => running.ask('startDeviceSignIn', { client_name });
const poll = (device_code: string) => running.ask('pollDeviceSignIn', { device_code });
const read = (person: Session, user_code: string) =>
  running.ask('readDeviceSignIn', { user_code }, callerOf(person));
const decide = (person: Session, user_code: string, allow: boolean) =>
  running.ask('decideDeviceSignIn', { user_code, allow }, callerOf(person));
const authorized = async (device_code: string): Promise<Session> => {
  const answer = await poll(device_code);
  if (answer.status !== 'authorized') throw new Error('the sign-in is pending');
  return answer as unknown as Session;
};
const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    ({ code, message }: ServiceError) => `${code}: ${message}`,
  );

test('the answer has the fields of RFC 8628, and no code is stored as it is', async () => {
  const begun = await start();
  expect(begun).toMatchObject({
    verification_uri: 'https://console.quittance.example/device',
    verification_uri_complete: `https://console.quittance.example/device?code=${begun.user_code}&environment=test`,
    expires_in: 600,
    interval: 2,
  });
  const { rows } = await running.admin.query('select * from identity.device_sign_ins where user_code = $1', [
    begun.user_code,
  ]);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(begun.device_code.slice('dc_test_'.length));
});

test('a confirmed device gets a session of the person’s account, which is listed, refreshed and revoked as others', async () => {
  const person = await running.signIn();
  const { device_code, user_code } = await start('quittance on build-7');
  expect(await poll(device_code)).toEqual({ status: 'pending' });
  const asks = await read(person, user_code);
  expect(asks.client_name).toBe('quittance on build-7');
  expect(Date.parse(asks.expires_at) - Date.parse(asks.created_at)).toBe(10 * MINUTE * 1000);
  // Reading decides nothing.
  expect(await poll(device_code)).toEqual({ status: 'pending' });

  expect(await decide(person, user_code, true)).toEqual({ status: 'allowed' });
  const device = await authorized(device_code);
  expect(device).toMatchObject({ status: 'authorized', token_type: 'Bearer', account: person.account });
  const { data } = await running.ask('listSessions', {}, callerOf(device));
  expect(data.map(({ method, client_name, current }) => [method, client_name, current])).toEqual([
    ['device', 'quittance on build-7', true],
    ['email', null, false],
  ]);
  const next = await running.ask('refresh', { refresh_token: device.refresh_token });
  const { session_id } = callerOf(next);
  await running.ask('deleteSession', { session_id }, callerOf(person));
  expect(await running.isOpen(next)).toBe(false);
});

test('the owner is notified by mail even if mails about keys are off, and the name is no link', async () => {
  const person = await running.signIn();
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(person));
  const { device_code, user_code } = await start('See https://evil.example/x “now');
  await decide(person, user_code, true);
  await authorized(device_code);
  const mail = await running.mailTo(person.account.email, ({ subject }) => /device signed in/.test(subject));
  expect(mail.text).toContain('“See https[:]//evil[.]example/x "now” ');
  expect(mail.text).toContain('If somebody sent you that code');
  expect(mail.text).not.toContain(user_code);
});

test('a code works once: later polls are refused, and one of 32 concurrent polls gets the session', async () => {
  const person = await running.signIn();
  const { device_code, user_code } = await start();
  await decide(person, user_code, true);
  const codes = await Promise.all(Array.from({ length: 32 }, () => codeOf(poll(device_code))));
  expect(tally(codes)).toEqual({ ok: 1, unauthorized: 31 });
  expect(await codeOf(poll(device_code))).toBe('unauthorized');
  const { account_id } = person.account;
  expect(await running.count('sessions', `account_id = '${account_id}' and 'device' = any(amr)`)).toBe(1);
});

test('polls during the decision get one session', async () => {
  const person = await running.signIn();
  const { device_code, user_code } = await start();
  const [, ...answers] = await Promise.all([
    decide(person, user_code, true),
    ...Array.from({ length: 16 }, () =>
      poll(device_code).then(
        ({ status }) => status as string,
        ({ code }: ServiceError) => code,
      ),
    ),
  ]);
  const last = await codeOf(poll(device_code));
  expect(answers.filter((each) => each === 'authorized').length + (last === 'ok' ? 1 : 0)).toBe(1);
});

describe('a denied sign-in', () => {
  test('is forbidden to the device, and unauthorized after it has expired', async () => {
    const person = await running.signIn();
    const { device_code, user_code } = await start();
    expect(await decide(person, user_code, false)).toEqual({ status: 'denied' });
    expect(await messageOf(poll(device_code))).toBe('forbidden: the sign-in of the device was denied');
    expect(await codeOf(read(person, user_code))).toBe('not_found');
    await running.passSeconds(10 * MINUTE + 1);
    expect(await codeOf(poll(device_code))).toBe('unauthorized');
  });
});

describe('the first decision stands', () => {
  test('its repeat gets the same answer, before and after the device has its session', async () => {
    const person = await running.signIn();
    const { device_code, user_code } = await start();
    await decide(person, user_code, true);
    expect(await decide(person, user_code, true)).toEqual({ status: 'allowed' });
    expect(await codeOf(decide(person, user_code, false))).toBe('conflict');
    await authorized(device_code);
    expect(await decide(person, user_code, true)).toEqual({ status: 'allowed' });
  });

  test('another account finds nothing to read or decide', async () => {
    const [person, other] = [await running.signIn(), await running.signIn()];
    const { device_code, user_code } = await start();
    await decide(person, user_code, true);
    expect(await codeOf(read(other, user_code))).toBe('not_found');
    expect(await codeOf(decide(other, user_code, true))).toBe('not_found');
    expect(await codeOf(decide(other, user_code, false))).toBe('not_found');
    expect((await authorized(device_code)).account).toEqual(person.account);
  });

  test('of concurrent decisions of two people, one stands and the device gets the session of that account', async () => {
    const persons = [await running.signIn(), await running.signIn()];
    const { device_code, user_code } = await start();
    const codes = await Promise.all(persons.map((person) => codeOf(decide(person, user_code, true))));
    expect([...codes].sort()).toEqual(['not_found', 'ok']);
    const winner = persons[codes.indexOf('ok')]!;
    expect((await authorized(device_code)).account).toEqual(winner.account);
  });

  test('of a concurrent Allow and Deny, one stands and the other is a conflict', async () => {
    const person = await running.signIn();
    const { device_code, user_code } = await start();
    const codes = await Promise.all([true, false].map((allow) => codeOf(decide(person, user_code, allow))));
    expect([...codes].sort()).toEqual(['conflict', 'ok']);
    expect(await codeOf(poll(device_code))).toBe(codes[0] === 'ok' ? 'ok' : 'forbidden');
  });
});

test('after 10 minutes the code cannot be read, decided or used, and the purge deletes it', async () => {
  const person = await running.signIn();
  const [waiting, allowed] = [await start(), await start()];
  await decide(person, allowed.user_code, true);
  await running.passSeconds(10 * MINUTE + 1);
  const again = await running.signIn(person.account.email);
  expect(await codeOf(read(again, waiting.user_code))).toBe('not_found');
  expect(await codeOf(decide(again, waiting.user_code, true))).toBe('not_found');
  expect(await codeOf(poll(waiting.device_code))).toBe('unauthorized');
  expect(await codeOf(poll(allowed.device_code))).toBe('unauthorized');
  const valid = await start();
  await purge(running.deps)();
  expect(await running.count('device_sign_ins', `user_code <> '${valid.user_code}'`)).toBe(0);
  expect(await poll(valid.device_code)).toEqual({ status: 'pending' });
});

test('an unknown code is refused', async () => {
  const person = await running.signIn();
  expect(await codeOf(poll(`dc_test_${'A'.repeat(43)}`))).toBe('unauthorized');
  expect(await codeOf(read(person, 'WDJB-MJHT'))).toBe('not_found');
  expect(await codeOf(decide(person, 'WDJB-MJHT', true))).toBe('not_found');
});

test('a sign-in of more than five minutes ago cannot decide', async () => {
  const person = await running.signIn();
  await running.passSeconds(6 * MINUTE);
  await running.clockUpdated();
  const { device_code, user_code } = await start();
  expect(await codeOf(decide(person, user_code, true))).toBe('reauthentication_required');
  expect(await poll(device_code)).toEqual({ status: 'pending' });
});

test('a person sees from which network and program the device asked', async () => {
  const person = await running.signIn();
  const client = { address: '203.0.113.0/24', agent: 'Quittance command line' };
  const begun = await running.ask('startDeviceSignIn', { client_name: 'x' }, { kind: 'none' }, { client });
  expect(await read(person, begun.user_code)).toMatchObject(client);
  const unknown = await start();
  expect(await read(person, unknown.user_code)).toMatchObject({ address: null, agent: null });
});

test('a service that is asked by a device, whatever asked it, lets it neither allow another device nor add a passkey', async () => {
  const person = await running.signIn();
  const [first, second] = [await start(), await start()];
  await decide(person, first.user_code, true);
  const device = await authorized(first.device_code);
  for (const allow of [true, false])
    expect(await codeOf(decide(device, second.user_code, allow))).toBe('forbidden');
  expect(await codeOf(running.ask('passkeyRegisterOptions', {}, callerOf(device)))).toBe('forbidden');
});

test('a frozen account cannot allow a device, and a device that it has allowed waits for the end of the freeze', async () => {
  const person = await running.signIn();
  const { device_code, user_code } = await start();
  const caller = { ...callerOf(person), frozen: true } as const;
  const refused = running.ask('decideDeviceSignIn', { user_code, allow: true }, caller);
  expect(await codeOf(refused)).toBe('forbidden');
  await decide(person, user_code, true);
  const by = { reason: 'ticket 1042' };
  const freeze = (frozen: boolean) =>
    call(running.operator, identity, 'setFrozen', { account_id: person.account.account_id, frozen, ...by });
  await freeze(true);
  expect(await messageOf(poll(device_code))).toMatch(/^forbidden: .*frozen/);
  await freeze(false);
  expect((await authorized(device_code)).account).toEqual(person.account);
});

test('two sign-ins never have the same short code', async () => {
  const row = { device_hash: 'a', user_code: 'BBBB-BBBB', client_name: 'A device', client: null };
  expect(await insertDeviceSignIn(running.deps.pool, row)).toBe(true);
  expect(await insertDeviceSignIn(running.deps.pool, { ...row, device_hash: 'b' })).toBe(false);
});
