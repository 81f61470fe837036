import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import pg from 'pg';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { networkOf } from '../../deploy/local/stack/networks.ts';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { serve } from '../../shared/bus/serve.ts';
import type { Client } from '../../shared/contract/client.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { contracts, wallet } from '../../shared/contract/index.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { encodeBase58 } from '../../shared/lib/base58.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { signToken } from '../../shared/lib/compact-token.ts';
import { privateKeyFromSeed } from '../../shared/lib/ed25519.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import { createTestBus } from './bus.ts';
import { AUTHORITY, startChainStandIn } from './chain-stand-in.ts';
import { createTestDatabase } from './database.ts';
import { collectNotes } from './security-notes.ts';
import { faults, type ServiceProcess, startService } from './service-process.ts';
import { waitFor } from './wait.ts';

export type Account = Extract<Principal, { kind: 'jwt' }> & { owner: string; wallet_id: string };
export type Vendor = Extract<Principal, { kind: 'service_key' }> & { payout: string };

/** A sign-in that is fresh at every time that a test sets. Other tests cover step-up. */
export const FRESH = Math.floor(Date.now() / 1000) + 2 * 86_400;

/** The error code of a call, `ok` for none. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

let lastAddress = 0;
const address = () => {
  lastAddress += 1;
  return encodeBase58(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? lastAddress : (at * 7) % 251)));
};

/** Adds fields that are not sent with the principal, because the gateway does not send them. */
const hidden = <P extends object, H extends object>(principal: P, more: H): P & H =>
  Object.defineProperties(
    principal,
    Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { value }])),
  ) as P & H;

/**
 * The funding and the settlement service as processes over real Postgres and JetStream. The chain
 * is a stand-in, so that a test decides the outcome of a transfer. The tests of chain-submitter and
 * the e2e tests use a real chain.
 */
export const startFundingFixture = async () => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'funding-test-'));
  const keys = environmentKeys(stateDir, 'test');
  const [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  const notesOf = await collectNotes(testBus, 'funding');
  const admin = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  const gateway: Bus = await testBus.as('gateway');
  const chain = startChainStandIn(await testBus.as('chain-submitter'));

  /**
   * The statuses of the events that the webhook service receives, by object id. A message that does
   * not match the contract is recorded as `unread`.
   */
  const published = new Map<string, string[]>();
  const record = (id: string, status: string) =>
    void published.set(id, [...(published.get(id) ?? []), status]);
  const subscription = subscribe(
    await testBus.as('webhook'),
    contracts.funding,
    {
      withdrawalChanged: async ({ withdrawal }) => record(withdrawal.withdrawal_id, withdrawal.status),
      refundChanged: async ({ refund }) => record(refund.refund_id, refund.status),
    },
    async ({ subject }) => record('unread', subject),
  );

  const accounts = new Map<string, Account>();
  const refuse = async () => {
    throw new ServiceError('internal_error', 'not called in this suite');
  };
  const walletOf = (accountId: string) => {
    const found = accounts.get(accountId);
    if (found === undefined) return null;
    const { wallet_id, owner } = found;
    return { wallet_id, owner, token_account: owner, authority: AUTHORITY };
  };
  const names = [...Object.keys(wallet.operations), ...Object.keys(wallet.internal)];
  const handlers = {
    ...Object.fromEntries(names.map((name) => [name, refuse])),
    find: async ({ account_id, wallet_id }: { account_id: string; wallet_id?: string }) => {
      const found = walletOf(account_id);
      return wallet_id === undefined || wallet_id === found?.wallet_id ? found : null;
    },
    findDefaults: async ({ account_ids }: { account_ids: string[] }) => account_ids.map(walletOf),
  } as unknown as Handlers<typeof wallet>;
  serve(await testBus.as('wallet'), wallet, handlers);
  // The only call of settlement to identity. No account is frozen here.
  (await testBus.as('identity')).nc.subscribe('int.identity.isFrozen', {
    callback: (_error, msg) => void msg.respond(JSON.stringify({ ok: { frozen: false } })),
  });
  const shared = { testBus, database };
  const { quote, settlement } = keys.signing;
  const startFunding = (failpoints?: string) =>
    startService(
      'funding',
      { CURSOR_KEY: keys.cursorKey, CHAIN_WAIT_MS: '2000', DEV_FUND: 'true', ...faults(failpoints) },
      shared,
    );
  const [first, settlements] = await Promise.all([
    startFunding(),
    startService(
      'settlement',
      {
        SIGNING_KEYS: `${settlement.kid}:${settlement.seed}`,
        PUBLIC_KEYS: JSON.stringify([quote, settlement].map(({ kid, publicKey }) => ({ kid, x: publicKey }))),
        USDC_MINT: keys.mint,
        FEE_WALLET: keys.feeWallet.address,
        X402_NETWORK: networkOf('test').caip2,
        PUBLIC_URL: 'https://api.example.com',
        CURSOR_KEY: keys.cursorKey,
        SETTLE_WAIT_MS: '3000',
      },
      shared,
    ),
  ]);

  let funding: ServiceProcess = first;

  /** A call as the gateway forwards it. */
  const as = <T>(
    principal: Principal,
    service: 'funding' | 'settlement',
    operation: string,
    input: object,
    call: { idempotencyKey?: string; onReplay?: () => void; timeoutMs?: number; client?: Client } = {},
  ) =>
    forward(gateway, contracts[service], operation, input, principal, {
      ...{ timeoutMs: 10_000, headers: {} },
      ...call,
    }) as Promise<T>;

  /**
   * A call of funding with an Idempotency-Key. `replayed`: the answer is that of an earlier call.
   */
  const askOnce = async <T>(
    who: Principal,
    operation: string,
    input: object,
    { key, timeoutMs = 10_000 }: { key: string; timeoutMs?: number },
  ): Promise<{ body: T; replayed: boolean }> => {
    let replayed = false;
    const onReplay = () => {
      replayed = true;
    };
    const call = { idempotencyKey: key, onReplay, timeoutMs };
    return { body: await as<T>({ ...who }, 'funding', operation, input, call), replayed };
  };

  /** Restarts the funding service, with failpoints or without. */
  const restartFunding = async (failpoints?: string): Promise<{ exited: Promise<number | null> }> => {
    await funding.stop();
    funding = await startFunding(failpoints);
    return funding;
  };

  const account = (balance = 10_000_000n): Account => {
    const account_id = newId('acct');
    const who = { kind: 'jwt', account_id, session_id: 'ses', auth_time: FRESH } as const;
    const made = hidden(who, { owner: address(), wallet_id: newId('wal') });
    accounts.set(account_id, made);
    Object.assign(chain.account(made.owner), {
      ...{ exists: true, balance, delegate: AUTHORITY, allowance: balance },
    });
    return made;
  };

  return {
    admin,
    chain,
    database,
    as,
    address,
    /** A signed-in person with a wallet that may pay. */
    account,
    vendor: (): Vendor =>
      hidden(
        { kind: 'service_key', key_id: 'k', account_id: newId('acct'), service_id: newServiceId() } as const,
        { payout: address() },
      ),
    /**
     * A payment of 1,000,000 micro-units, of which 10,000 are the fee. The net amount is at the
     * payout address.
     */
    paid: async (payer: Account, vendor: Vendor): Promise<string> => {
      const now = Date.now();
      const quote_token = signToken(
        'quote',
        {
          ...{ env: 'test', quote_id: newId('q'), vendor_account_id: vendor.account_id },
          ...{ service_id: vendor.service_id, service_name: 'Weather', payout_address: vendor.payout },
          ...{ mint: keys.mint, quote_amount: '1000000', fee_amount: '10000', currency: 'USDC' },
          ...{ issued_at: isoTime(now), expires_at: isoTime(now + 600_000) },
          ...{ redeem_window_seconds: 900, scope: null },
        },
        { kid: quote.kid, key: privateKeyFromSeed(Buffer.from(quote.seed, 'base64url')) },
      );
      const attempt = { quote_token, payment_attempt_id: newId('evt') };
      const settled = await as<{ settlement_id: string }>(payer, 'settlement', 'settle', attempt);
      chain.account(vendor.payout).balance += 990_000n;
      return settled.settlement_id;
    },
    /**
     * The statuses that were published of an object, once the last of them has arrived. `submitted`
     * is left out: the event of chain-submitter may be recorded before the submission, and then
     * `submitted` is not published.
     */
    publishedStatuses: async (objectId: string, last: string): Promise<string[]> => {
      const statuses = await waitFor(
        () => published.get(objectId) ?? [],
        (all) => all.at(-1) === last,
      );
      return [...statuses.filter((status) => status !== 'submitted'), ...(published.get('unread') ?? [])];
    },
    reserved: async (settlementId: string): Promise<string> => {
      const { rows } = await admin.query(
        'select refund_reserved from settlement.settlements where settlement_id = $1',
        [settlementId],
      );
      return String(rows[0].refund_reserved);
    },
    /** What the owner of an account was told, once there is so much. */
    notesOf,
    restartFunding,
    /**
     * Runs a call in a process that crashes at a failpoint, and restarts the service without it.
     */
    crashAt: async (point: string, work: () => Promise<unknown>): Promise<void> => {
      const { exited } = await restartFunding(`${point}=crash`);
      const lost = codeOf(work());
      expect(await exited).toBeNull();
      expect(await lost).toBe('service_unavailable');
      await restartFunding();
    },
    askOnce,
    /** How many rows of a table of funding match a condition. */
    rows: async (table: string, where: string): Promise<number> =>
      Number((await admin.query(`select count(*) from funding.${table} where ${where}`)).rows[0].count),
    stop: async (): Promise<(number | null)[]> => {
      const codes = await Promise.all([funding.stop(), settlements.stop()]);
      await subscription.stop();
      await chain.stop();
      await admin.end();
      await Promise.all([database.drop(), testBus.stop()]);
      rmSync(stateDir, { recursive: true, force: true });
      return codes;
    },
  };
};
export type FundingFixture = Awaited<ReturnType<typeof startFundingFixture>>;
