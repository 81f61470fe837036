import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { call, forward } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import { serve } from '../../../shared/bus/serve.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Moved } from '../../../shared/contract/funding.ts';
import { funding, wallet } from '../../../shared/contract/index.ts';
import type { Handlers } from '../../../shared/contract/service.ts';
import { encodeBase58 } from '../../../shared/lib/chain/base58.ts';
import { newId } from '../../../shared/lib/id.ts';
import { eventPayloads } from '../../../test/support/base/event-payloads.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import { createTestBus, type TestBus } from '../../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { type ServiceProcess, startService } from '../../../test/support/servers/service-process.ts';
import {
  AUTHORITY,
  type ChainStandIn,
  notForOperators,
  startChainStandIn,
} from '../../../test/support/stand-ins/chain-stand-in.ts';

const ACCOUNT = newId('acct');
const WALLET = newId('wal');
const OWNER = encodeBase58(new Uint8Array(32).fill(7));

let database: TestDatabase;
let testBus: TestBus;
let gateway: Bus;
let chain: ChainStandIn;
let service: ServiceProcess | undefined;
const start = (env: Record<string, string>) =>
  startService('funding', { CURSOR_KEY: 'a'.repeat(43), ...env }, { testBus, database });

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  gateway = await testBus.as('gateway');
  chain = startChainStandIn(await testBus.as('chain-submitter'));
  const refuse = async () => {
    throw new ServiceError('internal_error', 'not called in this suite');
  };
  const handlers: Handlers<typeof wallet> = {
    link: refuse,
    provision: refuse,
    list: refuse,
    backup: refuse,
    replaceBackup: refuse,
    onboarding: refuse,
    delegate: refuse,
    revoke: refuse,
    listTransactions: refuse,
    spendingSummary: refuse,
    salesSummary: refuse,
    countAuthorities: refuse,
    findWallets: refuse,
    getAccountActivity: refuse,
    find: async ({ account_id, wallet_id }) =>
      account_id === ACCOUNT && wallet_id === WALLET
        ? { wallet_id: WALLET, owner: OWNER, token_account: OWNER, authority: AUTHORITY }
        : null,
    findDefaults: refuse,
    setDefault: refuse,
    ...notForOperators,
  };
  serve(await testBus.as('wallet'), wallet, handlers);
  service = await start({ DEV_FUND: 'true', CHAIN_WAIT_MS: '5000' });
});

afterAll(async () => {
  expect(await service?.stop()).toBe(0);
  await chain.stop();
  await Promise.all([database.drop(), testBus.stop()]);
});

beforeEach(() => {
  chain.outcomes.fund = 'confirmed';
  chain.jobs.length = 0;
  chain.account(OWNER).balance = 0n;
});

const fund = (amount: string, { account = ACCOUNT, wallet_id = WALLET } = {}) => {
  const principal = { kind: 'jwt', account_id: account, session_id: 'ses', auth_time: 1 } as const;
  const options = { timeoutMs: 25_000, headers: {} };
  return forward(gateway, funding, 'devFund', { wallet_id, amount }, principal, options);
};
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

test('the funds are in the wallet when the call answers', async () => {
  const answer = await fund('10000000000');
  expect(answer).toEqual({
    wallet_id: WALLET,
    amount: '10000000000',
    tx_hash: expect.stringMatching(/^[1-9A-Za-z]{64,88}$/),
    balance: '10000000000',
  });
  expect(await fund('1')).toMatchObject({ amount: '1', balance: '10000000001' });
});

test.each([
  ['more than 10,000 USDC', '10000000001', {}, 'validation_error'],
  ['an amount that is not digits', '1e3', {}, 'validation_error'],
  ['an amount of 40 letters', 'a'.repeat(40), {}, 'validation_error'],
  ['a wallet that does not exist', '1', { wallet_id: newId('wal') }, 'not_found'],
  ['another account’s wallet', '1', { account: newId('acct') }, 'not_found'],
])('a call for %s is refused, and nothing is sent', async (_name, amount, who, expected) => {
  expect(await refusal(fund(amount, who))).toBe(expected);
  expect(chain.jobs).toEqual([]);
});

test('a transfer that fails on the chain fails the call', async () => {
  chain.outcomes.fund = 'failed';
  expect(await refusal(fund('5'))).toBe('payment_failed');
  expect(chain.account(OWNER).balance).toBe(0n);
});

test('rule 16: a lost job is dispatched again after 15 s, and the funds are sent once', async () => {
  chain.outcomes.fund = 'silent';
  const answer = fund('5');
  await waitFor(
    () => chain.jobs.length,
    (count) => count > 0,
  );
  chain.outcomes.fund = 'confirmed';
  expect(await database.withClock('16 seconds', () => answer)).toMatchObject({ balance: '5' });
  expect(chain.jobs.length).toBeGreaterThanOrEqual(2);
  expect(new Set(chain.jobs).size).toBe(1);
});

test('when the chain is slower than the wait, the error says that the funds may still arrive', async () => {
  chain.outcomes.fund = 'silent';
  await expect(fund('5')).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('may still arrive'),
    extras: { money_moved: 'unknown' },
  });
});

test('the event moved and listMoved report every confirmed transfer and its outcome', async () => {
  const events: Moved[] = [];
  const observer = await testBus.as('admin');
  observer.nc.subscribe('evt.funding.moved', {
    callback: (_error, msg) => void events.push(...eventPayloads<(typeof events)[number]>(msg)),
  });
  await observer.nc.flush();
  const walletBus = await testBus.as('wallet');
  const published = (id: string) =>
    events.filter(({ object_id }) => object_id === id).map(({ status }) => status);
  const listed = async (id: string) =>
    (await call(walletBus, funding, 'listMoved', { after: null, limit: 500 })).find(
      ({ object_id }) => object_id === id,
    );
  const funded = async () => {
    const { tx_hash } = (await fund('3')) as { tx_hash: string };
    return { id: chain.jobs.at(-1)!, tx_hash };
  };
  const expectPublished = async (id: string, expected: string[]) => {
    await waitFor(
      () => published(id).length,
      (count) => count >= expected.length,
    );
    expect(published(id)).toEqual(expected);
    expect((await listed(id))?.status).toBe(expected.at(-1));
  };

  const { id, tx_hash } = await funded();
  await expectPublished(id, ['confirmed']);
  for (let i = 0; i < 2; i += 1) await chain.publishProgress('fundProgressed', id, 'finalized', tx_hash);
  await expectPublished(id, ['confirmed', 'finalized']);
  expect(await listed(id)).toMatchObject({
    type: 'dev_fund',
    amount: '3',
    to_account_id: ACCOUNT,
    from_account_id: null,
    tx_hash,
  });

  const forked = await funded();
  await expectPublished(forked.id, ['confirmed']);
  await chain.publishProgress('fundProgressed', forked.id, 'reopened', forked.tx_hash);
  await chain.publishProgress('fundProgressed', forked.id, 'failed', forked.tx_hash);
  await expectPublished(forked.id, ['confirmed', 'reversed']);

  chain.outcomes.fund = 'failed';
  expect(await refusal(fund('5'))).toBe('payment_failed');
  const unconfirmed = chain.jobs.at(-1)!;
  expect(published(unconfirmed)).toEqual([]);
  expect(await listed(unconfirmed)).toBeUndefined();
});

test('without a funding authority the call is not found', async () => {
  await service?.stop();
  service = await start({});
  expect(await refusal(fund('1'))).toBe('not_found');
  await service.stop();
  service = await start({ DEV_FUND: 'true', CHAIN_WAIT_MS: '5000' });
});
