import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { call } from '../../../shared/bus/call.ts';
import { contracts, identity } from '../../../shared/contract/index.ts';
import { isRefusedWhenFrozen } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { keyHash } from '../../../shared/lib/key-text.ts';
import { callerOf, PAYOUT, startIdentity } from '../../../test/support/identity.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 60_000);
afterAll(() => running.stop(), 30_000);

const by = { actor: 'jane', reason: 'ticket 1042' };
const freeze = (account_id: string, frozen = true) =>
  call(running.operator, identity, 'setFrozen', { account_id, frozen, ...by });
const setFactor = (account_id: string, limit_factor: number) =>
  call(running.operator, identity, 'setLimitFactor', { account_id, limit_factor, ...by });
const actions = () => call(running.operator, identity, 'listOperatorActions', { limit: 200 });
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  );

/** The token of the link that a mail brought. */
const revealToken = async (address: string): Promise<string> => {
  for (let tries = 0; tries < 500; tries += 1) {
    const texts = running.smtp.mailsTo(address).map(({ text }) => text ?? '');
    const found = texts.map((text) => /#token=(rv_test_[A-Za-z0-9_-]{43})/.exec(text)?.[1]).find(Boolean);
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error('no mail within 10 s');
};

const newAccount = async () => {
  const session = await running.signIn();
  const owner = callerOf(session);
  const service = { name: 'Weather', price: '2500000', payout_address: PAYOUT };
  const { service_id, api_key } = await running.ask('createService', service, owner);
  return { session, owner, accountId: owner.account_id, service_id, api_key };
};

test('which operations a frozen account still has: those that deliver, give back or end something', () => {
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
    'settlement.consume',
    'settlement.redeem',
    'settlement.settle',
    'settlement.verify',
  ]);
});

describe('a frozen account', () => {
  test('is told so with every look-up of its credentials, and gets everything back', async () => {
    const { session, owner, accountId, api_key } = await newAccount();
    const seen = async () => {
      const { session_id, account_id } = owner;
      return {
        key: (await running.findKey(keyHash(api_key))) ?? null,
        session: await running.standing({ session_id, account_id }),
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
    // A sign-in still works: a frozen account reads.
    expect(await running.isOpen(session)).toBe(true);
    await freeze(accountId, false);
    expect((await seen()).key).not.toHaveProperty('frozen');
    expect((await seen()).session).toMatchObject({ open: true, frozen: false });
  });

  test('serve refuses its writes with 403 and whom to ask, before the input is looked at', async () => {
    const { owner } = await newAccount();
    const frozen = { ...owner, frozen: true } as const;
    const body = { name: 'Second', price: '1', payout_address: PAYOUT };
    expect(await outcome(running.ask('createService', body, frozen))).toMatch(
      /^forbidden: .*frozen.*support/,
    );
    expect(await outcome(running.ask('createService', { wrong: 1 } as never, frozen))).toMatch(/^forbidden/);
    expect(await outcome(running.ask('getAccount', {}, frozen))).toBe('ok');
    expect(await outcome(running.ask('logout', {}, frozen))).toBe('ok');
  });

  test('a link that makes a key, which needs no credential, is refused too and stays unused', async () => {
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

test('limits: a whole factor within bounds, told with the look-up, cleared again', async () => {
  const { owner, accountId } = await newAccount();
  const factor = async () => (await running.standing(owner)).limit_factor;
  expect(await factor()).toBe(1);
  expect(await setFactor(accountId, 20)).toMatchObject({
    changed: true,
    account_status: { limit_factor: 20 },
  });
  expect(await factor()).toBe(20);
  for (const wrong of [0, -1, 1.5, 1001])
    expect(await outcome(setFactor(accountId, wrong))).toMatch(/^validation_error/);
  const list = await call(running.operator, identity, 'listAccountStatuses', { limit: 100 });
  expect(list.map(({ account_id }) => account_id)).toContain(accountId);
  await setFactor(accountId, 1);
  expect(await factor()).toBe(1);
});

test('each change is kept with who, when by the database, why, before and after; what is so already is not', async () => {
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
  // Postgres grants nothing then, and says so in a warning alone.
  await as('identity', 'grant all on identity.operator_actions to current_user');
  const denied = /permission denied|must be owner/;
  for (const statement of [
    "update identity.operator_actions set actor = 'nobody'",
    'delete from identity.operator_actions',
    'truncate identity.operator_actions',
    'alter table identity.operator_actions disable trigger all',
  ])
    expect([statement, await as('identity', statement)]).toEqual([statement, expect.stringMatching(denied)]);
  expect(await as('settlement', 'select from identity.operator_actions')).toMatch(denied);
  expect(await as('identity', 'select from identity.operator_actions')).toBe('ok');
  expect((await actions()).some(({ target }) => target === accountId)).toBe(true);
});
