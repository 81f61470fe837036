import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { serve } from '../../shared/bus/serve.ts';
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
import { faults, type ServiceProcess, startService } from './service-process.ts';

export type Account = Extract<Principal, { kind: 'jwt' }> & { owner: string; wallet_id: string };
export type Vendor = Extract<Principal, { kind: 'service_key' }> & { payout: string };

/** A sign-in that is fresh for every clock that a test may set: step-up has tests of its own. */
export const FRESH = Math.floor(Date.now() / 1000) + 2 * 86_400;

let lastAddress = 0;
const address = () => {
  lastAddress += 1;
  return encodeBase58(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? lastAddress : (at * 7) % 251)));
};

/** Not part of who calls: the gateway would not send it. */
const hidden = <P extends object, H extends object>(principal: P, more: H): P & H =>
  Object.defineProperties(
    principal,
    Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { value }])),
  ) as P & H;

/**
 * The funding and the settlement service as processes over real Postgres and JetStream. The chain is a stand-in, so that
 * a test decides what becomes of a transfer; chain-submitter's own suites and the e2e tests use a real one.
 */
export const startFundingFixture = async () => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'funding-test-'));
  const keys = environmentKeys(stateDir, 'test');
  const [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  const admin = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  const gateway: Bus = await testBus.as('gateway');
  const chain = startChainStandIn(await testBus.as('chain-submitter'));

  /** Statuses as the service that tells accounts hears them, by object id; what the contract does not read is `unread`. */
  const told = new Map<string, string[]>();
  const note = (id: string, status: string) => void told.set(id, [...(told.get(id) ?? []), status]);
  const subscription = subscribe(
    await testBus.as('webhook'),
    contracts.funding,
    {
      withdrawalChanged: async ({ withdrawal }) => note(withdrawal.withdrawal_id, withdrawal.status),
      refundChanged: async ({ refund }) => note(refund.refund_id, refund.status),
    },
    async ({ subject }) => note('unread', subject),
  );

  const accounts = new Map<string, Account>();
  const refuse = async () => {
    throw new ServiceError('internal_error', 'not asked in this suite');
  };
  const names = [...Object.keys(wallet.operations), ...Object.keys(wallet.internal)];
  const handlers = {
    ...Object.fromEntries(names.map((name) => [name, refuse])),
    find: async ({ account_id, wallet_id }: { account_id: string; wallet_id?: string }) => {
      const found = accounts.get(account_id);
      if (found === undefined || (wallet_id !== undefined && wallet_id !== found.wallet_id)) return null;
      return {
        wallet_id: found.wallet_id,
        owner: found.owner,
        token_account: found.owner,
        authority: AUTHORITY,
      };
    },
  } as unknown as Handlers<typeof wallet>;
  serve(await testBus.as('wallet'), wallet, handlers);
  // All that settlement asks of identity: nobody is frozen here.
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
        USDC_MINT: keys.mint.address,
        FEE_WALLET: keys.feeWallet.address,
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
    call: { idempotencyKey?: string; onReplay?: () => void; timeoutMs?: number } = {},
  ) =>
    forward(gateway, contracts[service], operation, input, principal, {
      ...{ timeoutMs: 10_000, headers: {} },
      ...call,
    }) as Promise<T>;

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
    /** A payment of 1,000,000 micro-units, 10,000 of them the fee; its net is on the payout address. */
    paid: async (payer: Account, vendor: Vendor): Promise<string> => {
      const now = Date.now();
      const quote_token = signToken(
        'quote',
        {
          ...{ env: 'test', quote_id: newId('q'), vendor_account_id: vendor.account_id },
          ...{ service_id: vendor.service_id, service_name: 'Weather', payout_address: vendor.payout },
          ...{ mint: keys.mint.address, quote_amount: '1000000', fee_amount: '10000', currency: 'USDC' },
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
    /** What was told of an object once that many statuses were. */
    /**
     * The statuses that the account was told, once the last of them is there. Without `submitted`: the chain's word may come
     * before the submission is recorded, and then there was none to tell.
     */
    toldOf: async (objectId: string, last: string): Promise<string[]> => {
      for (let i = 0; i < 200 && told.get(objectId)?.at(-1) !== last; i += 1) await sleep(25);
      const statuses = (told.get(objectId) ?? []).filter((status) => status !== 'submitted');
      return [...statuses, ...(told.get('unread') ?? [])];
    },
    reserved: async (settlementId: string): Promise<string> => {
      const { rows } = await admin.query(
        'select refund_reserved from settlement.settlements where settlement_id = $1',
        [settlementId],
      );
      return String(rows[0].refund_reserved);
    },
    /** The funding service anew, with faults in it or without; the one before ends, or has ended by its fault. */
    restartFunding: async (failpoints?: string): Promise<{ exited: Promise<number | null> }> => {
      await funding.stop();
      funding = await startFunding(failpoints);
      return funding;
    },
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
