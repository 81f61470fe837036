import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { call } from '../../../shared/bus/call.ts';
import { contracts, identity } from '../../../shared/contract/index.ts';
import { isRefusedWhenFrozen } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { callerOf, PAYOUT, startIdentity } from '../../../test/support/fixtures/identity.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const signed = { reason: 'ticket 1042' };
/** How the record names the change: with the name of the operator's connection. */
const by = { actor: 'jane', ...signed };
const newInspection = () => ({ ticket: 'ticket 7', inspection_id: crypto.randomUUID() });
const freeze = (account_id: string, frozen = true) =>
  call(running.operator, identity, 'setFrozen', { account_id, frozen, ...signed });
const setFactor = (account_id: string, limit_factor: number) =>
  call(running.operator, identity, 'setLimitFactor', { account_id, limit_factor, ...signed });
const actions = () => call(running.operator, identity, 'listOperatorActions', { limit: 200 });
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  );

/** The token of the link in a mail to this address. */
const revealToken = async (address: string): Promise<string> => {
  const token = /#token=(rv_test_[A-Za-z0-9_-]{43})/;
  return token.exec((await running.mailTo(address, ({ text }) => token.test(text))).text)![1]!;
};

const newAccount = async () => {
  const session = await running.signIn();
  const owner = callerOf(session);
  const service = { name: 'Weather', price: '2500000', payout_address: PAYOUT };
  const { service_id, api_key } = await running.ask('createService', service, owner);
  return { session, owner, accountId: owner.account_id, service_id, api_key };
};

test('a frozen account may still call the operations that deliver, refund, cancel or revoke something', () => {
  const served = Object.entries(contracts).flatMap(([service, { operations }]) =>
    Object.entries(operations).flatMap(([name, op]) =>
      op.http.method !== 'GET' && op.access.length > 0 && !isRefusedWhenFrozen(op)
        ? [`${service}.${name}`]
        : [],
    ),
  );
  expect(served.sort()).toEqual([
    'funding.cancelRefund',
    'funding.cancelWithdrawal',
    'funding.createRefund',
    'funding.submitRefund',
    'identity.deleteDelegate',
    'identity.deleteSession',
    'identity.logout',
    'identity.noteExport',
    'settlement.acceptForeign',
    'settlement.capture',
    'settlement.close',
    'settlement.consume',
    'settlement.denyApproval',
    'settlement.payExternal',
    'settlement.redeem',
    'settlement.reissueForeign',
    'settlement.reportExternal',
    'settlement.settle',
    'settlement.usage',
    'settlement.verify',
    'settlement.void',
    'settlement.x402Settle',
    'settlement.x402Verify',
  ]);
});

describe('a frozen account', () => {
  test('is reported with its credentials, and gets all rights back when it is unfrozen', async () => {
    const { session, owner, accountId, api_key } = await newAccount();
    const seen = async () => {
      const { session_id, account_id } = owner;
      return {
        key: (await running.findKey(keyHash(api_key))) ?? null,
        session: await running.findSession({ session_id, account_id }),
      };
    };
    expect((await seen()).key).not.toHaveProperty('frozen');
    expect(await freeze(accountId)).toMatchObject({
      changed: true,
      account_status: { account_id: accountId },
    });
    expect(await seen()).toMatchObject({
      key: { kind: 'service_key', account_id: accountId, frozen: true },
      session: { open: true, frozen: true },
    });
    // What it has authorized ends with this event.
    const events = running.published.filter(({ subject }) => subject === 'evt.identity.accountFrozen');
    expect(events.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ account_id: accountId }),
    );
    // The session stays open, because a frozen account may read.
    expect(await running.isOpen(session)).toBe(true);
    await freeze(accountId, false);
    expect((await seen()).key).not.toHaveProperty('frozen');
    expect((await seen()).session).toMatchObject({ open: true, frozen: false });
  });

  test('gets 403 for a write before its input is validated, with a hint to support', async () => {
    const { owner } = await newAccount();
    const frozen = { ...owner, frozen: true } as const;
    const body = { name: 'Second', price: '20000', payout_address: PAYOUT };
    expect(await outcome(running.ask('createService', body, frozen))).toMatch(
      /^forbidden: .*frozen.*support/,
    );
    expect(await outcome(running.ask('createService', { wrong: 1 } as never, frozen))).toMatch(/^forbidden/);
    expect(await outcome(running.ask('getAccount', {}, frozen))).toBe('ok');
    expect(await outcome(running.ask('logout', {}, frozen))).toBe('ok');
  });

  test('cannot use a reveal link, which needs no credential; the link stays unused', async () => {
    const { session, owner, accountId, service_id } = await newAccount();
    await running.ask('revealServiceKey', { service_id }, owner);
    const token = await revealToken(session.account.email);
    await freeze(accountId);
    const verify = () => running.ask('verifyServiceReveal', { service_id, token });
    expect(await outcome(verify())).toMatch(/^forbidden/);
    expect(await running.count('keys', `account_id = '${accountId}'`)).toBe(1);
    await freeze(accountId, false);
    expect((await verify()).api_key).toMatch(/^vendor_test_/);
  });
});

test('a limit factor is a whole number within bounds, is reported with the credentials, and can be cleared', async () => {
  const { owner, accountId } = await newAccount();
  const factor = async () => (await running.findSession(owner)).limit_factor;
  expect(await factor()).toBe(1);
  expect(await setFactor(accountId, 20)).toMatchObject({
    changed: true,
    account_status: { limit_factor: 20 },
  });
  expect(await factor()).toBe(20);
  for (const wrong of [0, -1, 1.5, 1001])
    expect(await outcome(setFactor(accountId, wrong))).toMatch(/^validation_error/);
  const list = await call(running.operator, identity, 'listAccountStatuses', {
    limit: 100,
    inspection: newInspection(),
  });
  expect(list.map(({ account_id }) => account_id)).toContain(accountId);
  await setFactor(accountId, 1);
  expect(await factor()).toBe(1);
});

test('each change is recorded with actor, reason, time, before and after; a change to the present state is not', async () => {
  const { accountId } = await newAccount();
  await freeze(accountId);
  expect(await freeze(accountId)).toMatchObject({ changed: false });
  await setFactor(accountId, 3);
  await freeze(accountId, false);
  const own = (await actions()).filter(({ target }) => target === accountId);
  expect(own.map(({ action }) => action)).toEqual(['account.unfreeze', 'limits.set', 'account.freeze']);
  expect(own[1]).toMatchObject({
    ...by,
    before: { limit_factor: 1, frozen_at: expect.any(String) },
    after: { limit_factor: 3, frozen_at: expect.any(String) },
  });
  expect(Math.abs(Date.parse(own[0]!.at) - running.now())).toBeLessThan(60_000);
  expect(await freeze(newId('acct'))).toBeNull();
  expect(
    await outcome(
      call(running.operator, identity, 'setFrozen', { account_id: accountId, frozen: true } as never),
    ),
  ).toMatch(/^validation_error/);
});

test('a look at an account needs a ticket, is a row of the chain once for each command, and a search that finds nobody is one too', async () => {
  const { accountId, session } = await newAccount();
  const { operator, joe } = running;
  const inspectionsOf = async (target: string) =>
    (await call(operator, identity, 'listOperatorActions', { limit: 200, target })).map((row) => ({
      actor: row.actor,
      action: row.action,
      reason: row.reason,
      after: row.after,
    }));
  expect(await outcome(call(operator, identity, 'getAccountStatus', { account_id: accountId }))).toMatch(
    /^validation_error: inspection: .*ticket/,
  );
  expect(await outcome(call(operator, identity, 'findAccounts', { text: accountId }))).toMatch(/ticket/);
  expect(await inspectionsOf(accountId)).toEqual([]);

  const inspection = newInspection();
  const { email } = session.account;
  await call(operator, identity, 'findAccounts', { text: email, inspection });
  await call(operator, identity, 'getAccountStatus', { account_id: accountId, inspection });
  await Promise.all(
    [1, 2].map(() =>
      call(joe, identity, 'getAccountStatus', { account_id: accountId, inspection: newInspection() }),
    ),
  );
  const row = (actor: string, what: string) => ({
    actor,
    action: 'account.inspect',
    reason: 'ticket 7',
    after: { what, inspection_id: expect.any(String) },
  });
  expect(await inspectionsOf(accountId)).toEqual([
    row('joe', 'status'),
    row('joe', 'status'),
    row('jane', 'search'),
  ]);

  // The same command shows another account, too.
  const another = await newAccount();
  await call(operator, identity, 'getAccountStatus', { account_id: another.accountId, inspection });
  expect(await inspectionsOf(another.accountId)).toEqual([row('jane', 'status')]);

  const before = (await inspectionsOf('nobody')).length;
  await call(operator, identity, 'findAccounts', {
    text: 'not-a-customer@example.com',
    inspection: newInspection(),
  });
  const nobody = await inspectionsOf('nobody');
  expect(nobody).toHaveLength(before + 1);
  // The address of somebody who is no customer is not kept.
  expect(JSON.stringify(await actions())).not.toContain('not-a-customer');
  expect(JSON.stringify(await actions())).not.toContain(email);
  expect(await call(operator, identity, 'verifyOperatorActions', { known: null })).toMatchObject({
    broken_at: null,
  });
});

test('the record has the name of the connection, and a name in the input is refused', async () => {
  const { accountId } = await newAccount();
  const as = (actor: string) => ({ account_id: accountId, frozen: true, actor, ...signed }) as never;
  expect(await outcome(call(running.operator, identity, 'setFrozen', as('joe')))).toMatch(
    /^validation_error/,
  );
  await call(running.joe, identity, 'setFrozen', { account_id: accountId, frozen: true, ...signed });
  const [newest] = await actions();
  expect(newest).toMatchObject({ action: 'account.freeze', target: accountId, actor: 'joe' });
});

test('the record is append-only for the service’s own role, and no other service reads it', async () => {
  const { accountId } = await newAccount();
  await freeze(accountId);
  const as = async (service: 'identity' | 'settlement', statement: string): Promise<string> => {
    const client = new pg.Client({ connectionString: running.databaseUrl(service) });
    await client.connect();
    try {
      return await client.query(statement).then(
        () => 'ok',
        (error: Error) => error.message,
      );
    } finally {
      await client.end();
    }
  };
  // Postgres grants nothing here and only warns about it.
  await as('identity', 'grant all on identity.operator_actions to current_user');
  const denied = /permission denied|must be owner/;
  for (const statement of [
    "update identity.operator_actions set actor = 'nobody'",
    'delete from identity.operator_actions',
    'truncate identity.operator_actions',
    'alter table identity.operator_actions disable trigger all',
    'alter table identity.operator_actions rename to operator_actions_of_before',
    'drop table identity.operator_actions',
    'create table identity.actions (id int)',
  ])
    expect([statement, await as('identity', statement)]).toEqual([statement, expect.stringMatching(denied)]);
  expect(await as('settlement', 'select from identity.operator_actions')).toMatch(denied);
  expect(await as('identity', 'select from identity.operator_actions')).toBe('ok');
  expect((await actions()).some(({ target }) => target === accountId)).toBe(true);
});
