import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { forward } from '../../../../shared/bus/call.ts';
import type { Bus } from '../../../../shared/bus/connect.ts';
import { wallet } from '../../../../shared/contract/index.ts';
import { encodeBase58 } from '../../../../shared/lib/chain/base58.ts';
import { rawPublicKey, signBytes } from '../../../../shared/lib/chain/ed25519.ts';
import { newId } from '../../../../shared/lib/id.ts';
import { eventPayloads } from '../../../../test/support/base/event-payloads.ts';
import { waitFor } from '../../../../test/support/base/wait.ts';
import { createTestBus, type TestBus } from '../../../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../../test/support/servers/database-handle.ts';
import { type ServiceProcess, startService } from '../../../../test/support/servers/service-process.ts';
import {
  AUTHORITY,
  type ChainStandIn,
  signedByOwner,
  startChainStandIn,
} from '../../../../test/support/stand-ins/chain-stand-in.ts';
import type { Prepared } from '../../delegations/prepare-delegation.ts';
import type { WalletView } from '../view.ts';

/** The watcher on two replicas publishes changes on the chain without a call of the owner. */

type Change = { wallet_id: string; status: string; previous_status: string; token_account_closed: boolean };

const POLL_MS = 200;
let database: TestDatabase;
let testBus: TestBus;
let gateway: Bus;
let chain: ChainStandIn;
let admin: pg.Pool;
const services: ServiceProcess[] = [];
const changes: Change[] = [];
/** What settlement returns for a wallet: the amount paid since its approval. */
const spent = new Map<string, string>();

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  gateway = await testBus.as('gateway');
  chain = startChainStandIn(await testBus.as('chain-submitter'));
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=wallet,public',
    max: 2,
  });
  const settlement = await testBus.as('settlement');
  settlement.nc.subscribe('int.settlement.sumSpentSince', {
    callback: (_error, msg) => {
      const { input } = msg.json<{ input: { wallets: { wallet_id: string }[] } }>();
      const ok = input.wallets.map(({ wallet_id }) => ({ wallet_id, spent: spent.get(wallet_id) ?? '0' }));
      msg.respond(JSON.stringify({ ok }));
    },
  });
  const listener = await testBus.as('admin');
  listener.nc.subscribe('evt.wallet.delegationChanged', {
    callback: (_error, msg) => void changes.push(...eventPayloads<Change>(msg)),
  });
  await Promise.all([settlement.nc.flush(), listener.nc.flush()]);
  const env = {
    CURSOR_KEY: randomBytes(32).toString('base64url'),
    CHAIN_WAIT_MS: '5000',
    WATCH_EVERY_MS: String(POLL_MS),
  };
  for (let replica = 0; replica < 2; replica++)
    services.push(await startService('wallet', env, { testBus, database }));
});

afterAll(async () => {
  for (const service of services) expect(await service.stop()).toBe(0);
  await chain.stop();
  await admin.end();
  await Promise.all([database.drop(), testBus.stop()]);
});

beforeEach(() => {
  chain.state.readable = true;
});

type Consumer = { accountId: string; key: KeyObject; address: string };
const ask = <T = WalletView>(name: string, { accountId }: Consumer, input: object): Promise<T> => {
  const auth_time = Math.floor(Date.now() / 1000);
  const principal = { kind: 'jwt', account_id: accountId, session_id: 'ses', auth_time } as const;
  return forward(gateway, wallet, name, input, principal, { timeoutMs: 25_000, headers: {} }) as Promise<T>;
};

/** A consumer whose wallet lets the platform spend 5 USDC, and whose snapshot is stored. */
const onboarded = async (): Promise<{ who: Consumer; walletId: string }> => {
  const key = generateKeyPairSync('ed25519').privateKey;
  const who = { accountId: newId('acct'), key, address: encodeBase58(rawPublicKey(key)) };
  const message = `Quittance wallet proof\naccount: ${who.accountId}\nwallet: ${who.address}\nissued_at: ${new Date().toISOString()}`;
  const proof = { message, signature: encodeBase58(signBytes(Buffer.from(message), key)) };
  const { wallet_id } = await ask('link', who, { public_key: who.address, proof });
  const { transaction } = await ask<Prepared>('onboarding', who, { wallet_id, allowance: '5000000' });
  await ask('delegate', who, { wallet_id, transaction: signedByOwner(transaction) });
  return { who, walletId: wallet_id };
};

const changesOf = (walletId: string) => changes.filter(({ wallet_id }) => wallet_id === walletId);
const lastChange = (walletId: string, status: string) =>
  waitFor(
    () => changesOf(walletId).at(-1),
    (change) => change?.status === status,
  );
const stored = async (walletId: string) =>
  (await admin.query('select * from snapshots where wallet_id = $1', [walletId])).rows[0];

test.each([
  [
    'an approval of another app',
    { delegate: AUTHORITY.replace(/.$/, '2'), allowance: 1n },
    '0',
    'overwritten',
  ],
  ['a revoke in another app', { delegate: null, allowance: 0n }, '4999999', 'revoked'],
  ['an allowance that our settlements exhausted', { delegate: null, allowance: 0n }, '5000000', 'exhausted'],
])('%s is published once, without a call of the owner', async (_name, change, paid, status) => {
  const { who, walletId } = await onboarded();
  spent.set(walletId, paid);
  Object.assign(chain.account(who.address), change);
  expect(await lastChange(walletId, status)).toMatchObject({
    previous_status: 'active',
    token_account_closed: false,
  });
  const before = (await stored(walletId)).seen_at;
  await waitFor(
    () => stored(walletId),
    ({ seen_at }) => seen_at > before,
  );
  expect(changesOf(walletId).filter((each) => each.status === status)).toHaveLength(1);
});

test('a closed token account is reported, and reported again when it exists again', async () => {
  const { who, walletId } = await onboarded();
  Object.assign(chain.account(who.address), { exists: false, balance: 0n, delegate: null, allowance: 0n });
  expect(await lastChange(walletId, 'revoked')).toMatchObject({ token_account_closed: true });
  const { data } = await ask<{ data: WalletView[] }>('list', who, {});
  expect(data[0]).toMatchObject({
    token_account_closed: true,
    balance: '0',
    delegation: { status: 'revoked' },
  });
  chain.account(who.address).exists = true;
  await waitFor(
    () => changesOf(walletId).at(-1)!,
    (change) => !change.token_account_closed,
  );
});

test('a changed balance is stored within a poll', async () => {
  const { who, walletId } = await onboarded();
  chain.account(who.address).balance = 77n;
  await waitFor(
    () => stored(walletId),
    ({ balance }) => BigInt(balance) === 77n,
  );
});

test('while the chain is unavailable the wallets are listed as last seen, with that time', async () => {
  const { who, walletId } = await onboarded();
  chain.account(who.address).balance = 5n;
  await waitFor(
    () => stored(walletId),
    ({ balance }) => BigInt(balance) === 5n,
  );
  chain.state.readable = false;
  chain.account(who.address).balance = 6n;
  const first = (await ask<{ data: WalletView[] }>('list', who, {})).data[0]!;
  // A failed poll of the watcher is over when the lease of its claim was extended once more.
  const { poll_at } = await stored(walletId);
  await waitFor(
    () => stored(walletId),
    (row) => row.poll_at > poll_at,
  );
  const second = (await ask<{ data: WalletView[] }>('list', who, {})).data[0]!;
  expect(second).toMatchObject({ balance: '5', delegation: { status: 'active' } });
  expect(second.delegation.as_of).toBe(first.delegation.as_of);
  chain.state.readable = true;
  expect((await ask<{ data: WalletView[] }>('list', who, {})).data[0]!.balance).toBe('6');
});

test('while the chain hangs the list answers without it', async () => {
  const { who } = await onboarded();
  const { promise: hang, resolve: end } = Promise.withResolvers<void>();
  chain.state.hang = hang;
  try {
    const { data } = await ask<{ data: WalletView[] }>('list', who, {});
    expect(data[0]!.delegation.status).toBe('active');
  } finally {
    chain.state.hang = null;
    end();
  }
});

test('two replicas share 1,000 wallets in batches of 100 and observe each idle wallet once', async () => {
  const { walletId: busy } = await onboarded();
  const before = chain.observationSizes.length;
  await admin.query(`
    with made as (
      insert into wallets (wallet_id, account_id, kind, public_key, token_account, authority, is_default, created_at)
      select 'wal_many' || n, 'acct_many' || n, 'external', translate(substr(md5(n::text) || md5('k' || n), 1, 44), '0', 'z'),
        'token', '${AUTHORITY}', true, public.app_now() from generate_series(1, 1000) n returning wallet_id
    )
    insert into snapshots (wallet_id, active_at) select wallet_id, public.app_now() - interval '1 day' from made`);
  const idle = async () =>
    (
      await admin.query(
        `select count(*) filter (where seen_at is null)::int as unseen, max(seen_at) as last, sum(slot) as slots
        from snapshots where wallet_id like 'wal_many%'`,
      )
    ).rows[0];
  const first = await waitFor(idle, ({ unseen }) => unseen === 0);
  expect(Math.max(...chain.observationSizes.slice(before))).toBe(100);
  // The busy wallet is polled again and again, the idle ones only every ten minutes.
  for (let polls = 0; polls < 3; polls += 1) {
    const { seen_at } = await stored(busy);
    await waitFor(
      () => stored(busy),
      (row) => row.seen_at > seen_at,
    );
  }
  expect(await idle()).toEqual(first);
});
