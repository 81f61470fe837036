import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IdempotencyKey } from '../../../shared/contract/idempotency.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { startPurgeCalls } from '../../../shared/idempotency/store.ts';
import { keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { repeatUntilAnswered } from '../../../test/support/base/repeat-until-answered.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  callerOf,
  codeOf,
  PAYOUT,
  REFUSED_PAYOUT,
  startIdentity,
} from '../../../test/support/fixtures/identity.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';

/** docs/adr/0017-idempotency-keys.md, for the operations whose answer contains a secret. */
let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

type Owner = Principal & { kind: 'jwt' };
type Made = { service_id: string; api_key?: string; secret_already_shown?: true };
type Answered = { body: Made; replayed: boolean };
const WEATHER = { name: 'Weather', price: '2500000', payout_address: PAYOUT };

const owner = async (): Promise<Owner> => callerOf(await running.signIn());
const keyed = async <T = Answered>(
  operation: Parameters<typeof running.ask>[0],
  input: object,
  { caller, key }: { caller: Principal; key: string },
): Promise<T> => {
  let replayed = false;
  const onReplay = () => {
    replayed = true;
  };
  const body = await running.ask(operation, input, caller, { idempotencyKey: key, onReplay });
  return { body, replayed } as T;
};
const create = (caller: Principal, key: string, rest: object = {}) =>
  keyed('createService', { ...WEATHER, ...rest }, { caller, key });
const servicesOf = ({ account_id }: Owner) => running.count('services', `account_id = '${account_id}'`);

test('a repeat returns the service without its key and creates nothing, and no table contains the key', async () => {
  const ada = await owner();
  const first = await create(ada, 'k');
  const { api_key, ...shown } = first.body;
  expect(first).toMatchObject({ replayed: false, body: { api_key: expect.stringMatching(/^vendor_test_/) } });
  const repeat = { body: { ...shown, secret_already_shown: true }, replayed: true };
  expect(await create(ada, 'k')).toEqual(repeat);
  expect(await create(ada, 'k')).toEqual(repeat);
  expect(await servicesOf(ada)).toBe(1);
  const { rows } = await running.admin.query('select i::text as row from identity.idempotency i');
  expect(JSON.stringify(rows)).toContain('secret_already_shown');
  expect(JSON.stringify(rows)).not.toMatch(/vendor_test_|api_key/);
  // The order of the fields does not matter.
  const { price, name, payout_address } = WEATHER;
  const reordered = keyed('createService', { payout_address, price, name }, { caller: ada, key: 'k' });
  expect(await reordered).toEqual(repeat);
});

test('64 concurrent calls with one key create one service, and one answer contains its key', async () => {
  const ada = await owner();
  const answers = await atOnce(64, () => repeatUntilAnswered(() => create(ada, 'same')));
  expect(await servicesOf(ada)).toBe(1);
  expect(tally(answers.map(({ replayed }) => replayed))).toEqual({ false: 1, true: 63 });
  expect(new Set(answers.map(({ body }) => body.service_id)).size).toBe(1);
  const withKey = answers.filter(({ body }) => body.api_key !== undefined);
  expect(withKey).toHaveLength(1);
  expect(await running.findKey(keyHash(withKey[0]!.body.api_key!))).not.toBeNull();
  expect(await running.count('keys', `service_id = '${withKey[0]!.body.service_id}'`)).toBe(1);
});

test('another request with the same key is refused; another key, account or operation is another call', async () => {
  const [ada, eve] = [await owner(), await owner()];
  const { body } = await create(ada, 'k');
  expect(await codeOf(create(ada, 'k', { price: '2500001' }))).toBe('idempotency_mismatch');
  expect(await codeOf(create(ada, 'k', { key_grace_hours: 25 }))).toBe('idempotency_mismatch');
  // The default, spelled out.
  expect(await codeOf(create(ada, 'k', { key_grace_hours: 24 }))).toBe('ok');
  expect((await create(ada, 'K')).body.service_id).not.toBe(body.service_id);
  const hers = await create(eve, 'k');
  expect(hers.replayed).toBe(false);
  expect(hers.body.service_id).not.toBe(body.service_id);
  const robot = { name: 'Robot', wallet_id: running.newWallet(ada.account_id), limits: {} };
  const made = await keyed<{ replayed: boolean; body: object }>('createDelegate', robot, {
    caller: ada,
    key: 'k',
  });
  expect(made).toMatchObject({ replayed: false, body: { api_key: expect.stringMatching(/^dk_test_/) } });
  const again = await keyed<typeof made>('createDelegate', robot, { caller: ada, key: 'k' });
  expect(again).toMatchObject({ replayed: true, body: { secret_already_shown: true } });
  expect(again.body).not.toHaveProperty('api_key');
  expect(await running.count('delegates', `account_id = '${ada.account_id}'`)).toBe(1);
});

test('a call that was refused before it created anything is not recorded, so its key may be used again', async () => {
  const ada = await owner();
  expect(await codeOf(create(ada, 'k', { payout_address: REFUSED_PAYOUT }))).toBe('validation_error');
  expect(await codeOf(create(ada, 'k', { price: '0' }))).toBe('validation_error');
  expect((await create(ada, 'k')).replayed).toBe(false);
});

test('a repeat with an old sign-in is refused like any call', async () => {
  const ada = await owner();
  const robot = { name: 'Robot', wallet_id: running.newWallet(ada.account_id), limits: {} };
  await keyed('createDelegate', robot, { caller: ada, key: 'k' });
  const old = { ...ada, auth_time: ada.auth_time - 301 };
  expect(await codeOf(keyed('createDelegate', robot, { caller: old, key: 'k' }))).toBe(
    'reauthentication_required',
  );
});

test('a repeat returns the first answer even when the service was deleted since', async () => {
  const ada = await owner();
  const { body } = await create(ada, 'k');
  await running.ask('deleteService', { service_id: body.service_id }, ada);
  expect(await create(ada, 'k')).toMatchObject({
    replayed: true,
    body: { service_id: body.service_id, status: 'active' },
  });
});

test('a repeated rotation replaces no second key, and the key of another service is refused', async () => {
  const ada = await owner();
  const [one, two] = [await create(ada, '1'), await create(ada, '2')];
  const asKey = async ({ body }: Answered) => (await running.findKey(keyHash(body.api_key!))) as Principal;
  const [first, second] = [await asKey(one), await asKey(two)];
  const { service_id } = one.body;
  const rotate = (caller: Principal) =>
    keyed<{ replayed: boolean; body: object }>('rotateServiceKey', { service_id }, { caller, key: 'r' });
  const answers = await atOnce(16, () => repeatUntilAnswered(() => rotate(first)));
  expect(tally(answers.map(({ replayed }) => replayed))).toEqual({ false: 1, true: 15 });
  const [fresh] = answers.filter(({ replayed }) => !replayed);
  expect(fresh!.body).toMatchObject({ api_key: expect.stringMatching(/^vendor_test_/) });
  expect(await running.count('keys', `service_id = '${service_id}'`)).toBe(2);
  expect(await codeOf(rotate(second))).toBe('idempotency_mismatch');
  expect(await codeOf(rotate(ada))).toBe('idempotency_mismatch');
  // Without the Idempotency-Key it is another rotation, which a key in its grace period may not
  // make.
  expect(await codeOf(running.ask('rotateServiceKey', { service_id }, first))).toBe('forbidden');
});

test.each<[string, string, boolean]>([
  ['one character', '!', true],
  ['255', '~'.repeat(255), true],
  ['none', '', false],
  ['256', 'a'.repeat(256), false],
  ['a space', 'a b', false],
  ['a tab', 'a\tb', false],
  ['DEL', '\x7f', false],
  ['Latin 1', 'é', false],
  ['two headers joined', 'a, b', false],
])('an Idempotency-Key of %s', (_name, key, good) => {
  expect(IdempotencyKey.safeParse(key).success).toBe(good);
});

test('after 24 hours a key may be used again, whether or not the call was purged', async () => {
  const ada = await owner();
  const { body } = await create(ada, 'k');
  const calls = () => running.count('idempotency', `account_id = '${ada.account_id}'`);
  await running.passSeconds(24 * 3600 - 60);
  expect((await create(ada, 'k')).body.service_id).toBe(body.service_id);
  await running.passSeconds(61);
  const fresh = await create(ada, 'k');
  expect(fresh.replayed).toBe(false);
  expect(fresh.body.service_id).not.toBe(body.service_id);
  expect(await create(ada, 'k')).toMatchObject({
    replayed: true,
    body: { service_id: fresh.body.service_id },
  });
  expect(await calls()).toBe(1);
  await running.passSeconds(24 * 3600 + 1);
  const purge = startPurgeCalls(running.deps);
  await waitUntil(async () => (await calls()) === 0);
  await purge.stop();
});
