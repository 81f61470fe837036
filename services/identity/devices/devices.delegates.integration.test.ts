import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { callerOf, codeOf, type Session, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { purge } from '../operator/purge.ts';

/** What the sign-in of a device makes, and how it ends with it. */
let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const DAY = 24 * 3600;
const signInDevice = async (person: Session): Promise<Session> => {
  const { device_code, user_code } = await running.ask('startDeviceSignIn', { client_name: 'build-7' });
  await running.ask('decideDeviceSignIn', { user_code, allow: true }, callerOf(person));
  return (await running.ask('pollDeviceSignIn', { device_code })) as unknown as Session;
};
/** A person, and a device that has signed in to the account. */
const newPair = async () => {
  const person = await running.signIn();
  const device = await signInDevice(person);
  return { person, device, session_id: callerOf(device).session_id };
};
const create = (by: Session, limits: object = { per_payment: '500000', daily: '5000000' }, more = {}) => {
  const caller = callerOf(by);
  const wallet_id = running.newWallet(caller.account_id);
  return running.ask('createDelegate', { name: 'Agent', wallet_id, limits, ...more }, caller);
};
const end = (person: Session, session_id: string) =>
  running.ask('deleteSession', { session_id }, callerOf(person));
const works = async ({ api_key }: { api_key: string }) => (await running.findKey(keyHash(api_key))) !== null;
const listed = async (person: Session, session_id: string) =>
  (await running.ask('listSessions', {}, callerOf(person))).data.find(
    (each) => each.session_id === session_id,
  );

describe('the delegates of a device', () => {
  test('are listed with its sign-in, and end with it at once; those of a person and of other devices stay', async () => {
    const { person, device, session_id } = await newPair();
    const other = await signInDevice(person);
    const [first, second] = [await create(device), await create(device, undefined, { name: 'Robot' })];
    const [byPerson, byOther] = [await create(person), await create(other)];
    expect(await listed(person, session_id)).toMatchObject({
      method: 'device',
      open: true,
      delegates: [
        { delegate_id: first.delegate_id, name: 'Agent' },
        { delegate_id: second.delegate_id, name: 'Robot' },
      ],
    });
    expect(await listed(person, callerOf(person).session_id)).toMatchObject({ open: true, delegates: [] });

    await end(person, session_id);
    expect(await Promise.all([first, second, byPerson, byOther].map(works))).toEqual([
      ...[false, false],
      ...[true, true],
    ]);
    expect(running.revokedHashes()).toEqual(
      expect.arrayContaining([first, second].map(({ api_key }) => keyHash(api_key))),
    );
    expect(await listed(person, session_id)).toBeUndefined();
    const gone = await running
      .ask('getDelegate', { delegate_id: first.delegate_id }, callerOf(person))
      .catch(({ code }) => code);
    expect(gone).toBe('not_found');
    // A repeat changes nothing.
    expect(await end(person, session_id)).toBeNull();
  });

  test('stay when the device signs out, are listed with its ended sign-in, and end when their owner ends that', async () => {
    const { person, device, session_id } = await newPair();
    const made = await create(device);
    await running.ask('logout', {}, callerOf(device));
    expect(await running.isOpen(device)).toBe(false);
    expect(await works(made)).toBe(true);
    expect(await listed(person, session_id)).toMatchObject({
      open: false,
      delegates: [{ delegate_id: made.delegate_id }],
    });
    await end(person, session_id);
    expect(await works(made)).toBe(false);
    expect(await listed(person, session_id)).toBeUndefined();
  });

  test('end when an old refresh token of its sign-in is used again', async () => {
    const { person, device, session_id } = await newPair();
    const made = await create(device);
    const refresh = (from: Session) => running.ask('refresh', { refresh_token: from.refresh_token });
    await refresh(await refresh(device));
    await running.passSeconds(11);
    expect(await codeOf(refresh(device))).toBe('unauthorized');
    expect(await works(made)).toBe(false);
    expect(await listed(person, session_id)).toBeUndefined();
  });

  test('are kept with its sign-in until they end, however old that is', async () => {
    const { person, device, session_id } = await newPair();
    const made = await create(device);
    await running.passSeconds(121 * DAY);
    await purge(running.deps)();
    const again = await running.signIn(person.account.email);
    expect(await listed(again, session_id)).toMatchObject({ open: false, client_name: 'build-7' });
    await end(again, session_id);
    expect(await works(made)).toBe(false);
    await purge(running.deps)();
    expect(await running.count('sessions', `session_id = '${session_id}'`)).toBe(0);
    // The history of the delegate stays.
    expect(await running.count('delegates', `delegate_id = '${made.delegate_id}'`)).toBe(1);
  });
});

describe('a device may give its delegates', () => {
  test('25 USDC a day together, by their least limits, also after it has deleted some', async () => {
    const { person, device } = await newPair();
    const made = await create(device, { per_payment: '1', daily: '90000000', total: '20000000' });
    const { delegate_id } = made;
    await running.ask('deleteDelegate', { delegate_id }, callerOf(device));
    const six = { per_payment: '1', monthly: '6000000' };
    const refused = await create(device, six).catch((error) => error);
    expect(refused).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('25 USDC together'),
    });
    await create(device, { per_payment: '1', daily: '5000000' });
    expect(await codeOf(create(device, { per_payment: '1', daily: '1' }))).toBe('forbidden');
    // A person and another device have limits of their own.
    await create(person, {});
    await create(await signInDevice(person), six);
  });

  test('no more when it creates 32 of them at once', async () => {
    const { device, session_id } = await newPair();
    const one = { per_payment: '1', daily: '2500000' };
    expect(tally(await atOnce(32, () => codeOf(create(device, one))))).toEqual({ ok: 10, forbidden: 22 });
    expect(await running.count('delegates', `session_id = '${session_id}'`)).toBe(10);
  });

  test('nothing after its end, also while it creates them and its owner ends it', async () => {
    const { person, device, session_id } = await newPair();
    const one = { per_payment: '1', daily: '1' };
    const made = () => running.count('delegates', `session_id = '${session_id}'`);
    const creating = atOnce(32, () => codeOf(create(device, one)));
    await waitUntil(async () => (await made()) > 0);
    await end(person, session_id);
    const codes = new Set(await creating);
    expect([...codes].filter((code) => code !== 'ok' && code !== 'forbidden')).toEqual([]);
    expect(await running.count('delegates', `session_id = '${session_id}' and deleted_at is null`)).toBe(0);
    expect(await codeOf(create(device, one))).toBe('forbidden');
  });
});

test('a device may lower the limits of a delegate and pause it, and not widen it', async () => {
  const { person, device } = await newPair();
  const { delegate_id } = await create(person, { daily: '10' });
  const patch = (change: object) =>
    codeOf(running.ask('updateDelegate', { delegate_id, ...change }, callerOf(device)));
  expect(await patch({ limits: { daily: '9' } })).toBe('ok');
  expect(await patch({ limits: { daily: '10' } })).toBe('forbidden');
  expect(await patch({ limits: { daily: null } })).toBe('forbidden');
  expect(await patch({ external: { pay_to: 'any', origins: null } })).toBe('forbidden');
  expect(await patch({ paused: true })).toBe('ok');
  expect(await patch({ paused: false })).toBe('forbidden');
});

test('a device needs a recent sign-in to create a delegate', async () => {
  const { device } = await newPair();
  await running.passSeconds(301);
  await running.clockUpdated();
  expect(await codeOf(create(device))).toBe('reauthentication_required');
});
