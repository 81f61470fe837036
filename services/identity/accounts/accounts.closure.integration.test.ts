import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { callerOf, codeOf, PAYOUT, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { moment } from '../mailer/mail-text.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());
beforeEach(() => {
  running.openWork.length = 0;
});

const DAY_SECONDS = 24 * 3600;

/** An account with a service, a delegate, both keys and two sign-ins. */
const newOwner = async () => {
  const session = await running.signIn();
  const owner = callerOf(session);
  const { email } = session.account;
  const second = await running.signIn(email);
  const service = { name: 'Tide tables', price: '2500000', payout_address: PAYOUT };
  const { service_id, api_key } = await running.ask('createService', service, owner);
  const wallet_id = running.newWallet(owner.account_id);
  const delegate = await running.ask('createDelegate', { name: 'Tide robot', wallet_id, limits: {} }, owner);
  return { session, second, owner, email, service_id, keys: [api_key, delegate.api_key] };
};
type Owner = Awaited<ReturnType<typeof newOwner>>;

/** Waits until every mail was sent, so that the next one is that of a sign-in. */
const mailsSent = () => waitUntil(async () => (await running.count('mails')) === 0);
const close = ({ owner }: Pick<Owner, 'owner'>) => running.ask('closeAccount', {}, owner);
const keysOf = ({ keys }: Owner) => Promise.all(keys.map((key) => running.findKey(keyHash(key))));
/** How many rows of the schema hold a text, in whatever column. */
const rowsWith = async (text: string): Promise<string[]> => {
  const { rows } = await running.admin.query<{ table_name: string }>(
    `select table_name from information_schema.tables where table_schema = 'identity'`,
  );
  const found: string[] = [];
  for (const { table_name } of rows)
    if ((await running.count(table_name, `${table_name}::text like '%${text}%'`)) > 0) found.push(table_name);
  return found;
};

describe('the closure of an account', () => {
  test('needs a fresh sign-in, and no key can do it', async () => {
    const { owner, keys } = await newOwner();
    const stale = { ...owner, auth_time: owner.auth_time - 400 };
    expect(await codeOf(running.ask('closeAccount', {}, stale))).toBe('reauthentication_required');
    expect(await keysOf({ keys } as Owner)).toEqual([expect.any(Object), expect.any(Object)]);
  });

  test('is refused while something is open, names it, and leaves the account as it was', async () => {
    const all = await newOwner();
    running.openWork.push('payments', 'fees');
    await expect(close(all)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/payments, fees$/),
      extras: {
        details: [{ path: 'payments' }, { path: 'fees', message: expect.stringMatching(/fee-quote/) }],
      },
    });
    expect(await running.isOpen(all.session)).toBe(true);
    expect((await running.findSession(all.owner)).frozen).toBe(false);
    expect(await keysOf(all)).not.toContain(null);
  });

  test('freezes the account before it checks, and is refused if something was begun meanwhile', async () => {
    const all = await newOwner();
    const closing = codeOf(close(all));
    await waitUntil(async () => (await running.findSession(all.owner)).frozen);
    running.openWork.push('quotes');
    expect(await closing).toBe('conflict');
    expect((await running.findSession(all.owner)).frozen).toBe(false);
    expect(await running.isOpen(all.session)).toBe(true);
  });

  test('ends every sign-in, key, service, delegate and passkey at once, and mails the date of erasure', async () => {
    const all = await newOwner();
    const closed = await close(all);
    expect(closed).toMatchObject({ account_id: all.owner.account_id, status: 'closed' });
    expect(Date.parse(closed.erase_at) - Date.parse(closed.closed_at)).toBe(30 * DAY_SECONDS * 1000);
    expect(await Promise.all([running.isOpen(all.session), running.isOpen(all.second)])).toEqual([
      false,
      false,
    ]);
    expect(await keysOf(all)).toEqual([null, null]);
    expect(running.revokedHashes()).toEqual(expect.arrayContaining(all.keys.map(keyHash)));
    expect(await running.findService(all.service_id)).toBeNull();
    expect(await codeOf(running.ask('refresh', { refresh_token: all.second.refresh_token }))).toBe(
      'unauthorized',
    );
    const where = `account_id = '${all.owner.account_id}'`;
    expect(await running.count('delegates', `${where} and deleted_at is null`)).toBe(0);
    const mail = await running.mailTo(all.email, ({ subject }) => /account was closed/.test(subject));
    expect(mail.text).toContain(moment(closed.erase_at, new Date()));
    expect(running.published.map(({ subject }) => subject)).toContain('evt.identity.accountClosed');
    // Its last call is over, and every other one is refused.
    expect(await codeOf(close(all))).toBe('unauthorized');
  });

  test('frees the address at once for another account', async () => {
    const all = await newOwner();
    await close(all);
    await mailsSent();
    const again = await running.signIn(all.email);
    expect(again.account.account_id).not.toBe(all.owner.account_id);
    expect(await running.isOpen(again)).toBe(true);
    expect(await running.count('accounts', `email = '${all.email}'`)).toBe(2);
  });

  test('two calls at a time close it once', async () => {
    const all = await newOwner();
    const codes = await Promise.all([codeOf(close(all)), codeOf(close(all))]);
    expect(codes.sort()).toEqual(['ok', 'unauthorized']);
  });
});

test('after the grace the personal data of a closed account are erased, and of no other', async () => {
  const [gone, stays] = [await newOwner(), await newOwner()];
  await running.ask('updateSettings', { display_name: 'Ada Tideway' }, gone.owner);
  await close(gone);
  await running.passSeconds(29 * DAY_SECONDS);
  await running.eraseAccounts();
  expect(await rowsWith(gone.email)).toContain('accounts');

  await running.passSeconds(2 * DAY_SECONDS);
  await Promise.all([running.eraseAccounts(), running.eraseAccounts()]);
  expect(await rowsWith(gone.email)).toEqual([]);
  expect(await rowsWith('Ada Tideway')).toEqual([]);
  const { account_id } = gone.owner;
  expect(await running.count('sessions', `account_id = '${account_id}'`)).toBe(0);
  expect(await running.count('services', `account_id = '${account_id}' and name = 'erased'`)).toBe(1);
  expect(await running.count('delegates', `account_id = '${account_id}' and name = 'erased'`)).toBe(1);
  const erased = running.published
    .filter(({ subject }) => subject === 'evt.identity.accountErased')
    .map(({ payload }) => (payload as { account_id: string }).account_id);
  expect(erased.filter((id) => id === account_id)).toHaveLength(1);
  expect(erased).not.toContain(stays.owner.account_id);

  expect(await rowsWith(stays.email)).toContain('accounts');
  expect(
    await running.count('services', `account_id = '${stays.owner.account_id}' and name = 'erased'`),
  ).toBe(0);
  const again = await running.signIn(gone.email);
  expect(again.account.account_id).not.toBe(account_id);
});
