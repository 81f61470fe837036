import pg from 'pg';
import { listDelegateSpending } from '../../services/settlement/delegates/list-delegate-spending.ts';
import { delegateOperations } from '../../services/settlement/delegates/operations.ts';
import { upsertDelegate } from '../../services/settlement/delegates/upsert-delegate.ts';
import { operatorOperations } from '../../services/settlement/operator/operations.ts';
import { quarantineResolver } from '../../services/settlement/operator/quarantine-resolver.ts';
import { getPausedAt } from '../../services/settlement/operator/store.ts';
import { delegationChanged } from '../../services/settlement/payers/on-wallet-delegation-changed.ts';
import { refundOperations } from '../../services/settlement/refunds/operations.ts';
import type { ChainStatus, Status } from '../../services/settlement/settlements/model/status.ts';
import { settleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import { settlementOperations } from '../../services/settlement/settlements/operations.ts';
import { createTermsCache } from '../../services/settlement/settlements/terms-cache.ts';
import { type Base, closeBase, openBase } from '../../shared/boot.ts';
import { call, forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { serve } from '../../shared/bus/serve.ts';
import type { AttemptReport, Progress } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { chainSubmitter, settlement, wallet } from '../../shared/contract/index.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import type { BusUser } from '../../shared/contract/service.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import { createBudgets } from '../../shared/db/budget.ts';
import { createHourlyCaps } from '../../shared/db/hourly-caps.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { signToken } from '../../shared/lib/compact-token.ts';
import { privateKeyFromSeed, publicKeyFromRaw, rawPublicKey } from '../../shared/lib/ed25519.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import type { PublicKeys } from '../../shared/lib/keys.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { createTestBus, type TestBus } from './bus.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { publishEvent } from './publish.ts';
import { waitFor } from './wait.ts';

/**
 * The settlement service over real Postgres and JetStream. The test publishes the events of
 * chain-submitter, so that it controls their order, repetition and absence.
 */
const MINT = 'So11111111111111111111111111111111111111112';
const FEE_WALLET = 'SysvarRent111111111111111111111111111111111';
export const PAYOUT = 'SysvarC1ock11111111111111111111111111111111';
const AUTHORITY = 'Vote111111111111111111111111111111111111111';
export const HASH = ['5'.repeat(80), '6'.repeat(80)] as const;

const signing = (kid: string, fill: number) => ({
  kid,
  key: privateKeyFromSeed(new Uint8Array(32).fill(fill)),
});
const quoteKey = signing('test.quote.1', 1);
const settlementKey = signing('test.settlement.1', 2);
const publicKeys: PublicKeys = new Map(
  [quoteKey, settlementKey].map(({ kid, key }) => {
    const [env, use] = kid.split('.') as [string, 'quote' | 'settlement'];
    const raw = rawPublicKey(key);
    return [
      kid,
      {
        kid,
        env,
        use,
        x: Buffer.from(raw).toString('base64url'),
        key: publicKeyFromRaw(raw),
        retiredAt: null,
      },
    ];
  }),
);

type Deps = Parameters<typeof settlementOperations>[0] &
  Parameters<typeof operatorOperations>[0] &
  Parameters<typeof settleProgressed>[0] &
  Parameters<typeof quarantineResolver>[0];

export let database: TestDatabase;
export let testBus: TestBus;
export let base: Base;
export let deps: Deps;
let gateway: Bus;
/** The funding service, which reserves and releases refunds. */
export let funding: Bus;
let chain: Bus;
export let admin: pg.Pool;
const stops: (() => Promise<unknown>)[] = [];

/** What the chain shows of each wallet; a test changes it. */
export const sights = new Map<string, { balance: bigint; allowance: bigint; slot: number }>();
/** The hourly caps, high above what tests pay; a test may lower them. */
export const capLimits = {
  walletMicro: 10n ** 12n,
  environmentMicro: 10n ** 14n,
  ofWallet: new Map<string, bigint>(),
};
/** Whether the chain can be read. */
export const chainIs = { readable: true, budgetRefillsInSeconds: null as number | null };
export const reversals: { settlement_id: string; redeemed: boolean }[] = [];
/** The published `issued` events. */
export const issues: { settlement_id: string }[] = [];
export const frozen = new Set<string>();
/** What the chain shows of quotes whose records are lost, by token. */
export const payments = new Map<string, { paid: boolean; owner: string | null }>();
/** The answer of chain-submitter about every attempt. */
export const attemptReport: AttemptReport = {
  outcome: 'open',
  reason: 'not looked at',
  intent: null,
  transactions: [],
  under_reference: [],
  finalized_height: 1,
};
export let operator: Bus;
export const wallets = new Map<string, { wallet_id: string; owner: string }>();

/** Starts the service; once per test file. */
export const startFixture = async (): Promise<void> => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=settlement,public',
    max: 3,
  });
  base = await openBase('settlement', {
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: 0,
    LOG_LEVEL: 'fatal',
    NATS_URL: testBus.url,
    NATS_USER: testBus.userOf('settlement'),
    NATS_PASSWORD: testBus.password,
    POSTGRES_URL: database.url('settlement'),
    POSTGRES_POOL: 10,
  });
  deps = {
    pool: base.pool,
    logger: base.logger,
    clock: base.clock.now,
    environment: 'test',
    publicKeys,
    signingKey: settlementKey,
    mint: MINT,
    feeWallet: FEE_WALLET,
    cursorKey: Buffer.alloc(32, 7),
    settleWaitMs: 2000,
    relay: base.relay,
    quarantine: base.quarantine,
    waiting: base.waiting,
    terms: createTermsCache(),
    caps: createHourlyCaps(createBudgets(base.pool, base.clock.now), capLimits),
    findWallet: (account_id, wallet_id) =>
      call(base.bus, wallet, 'find', { account_id, ...(wallet_id !== null && { wallet_id }) }),
    isChainReadable: async () => chainIs.readable,
    budgetRefillsInSeconds: async () => chainIs.budgetRefillsInSeconds,
    observeWallet: (owner) => call(base.bus, chainSubmitter, 'observeWallet', { owner }),
    isPaused: async () => (await getPausedAt(base.pool)) !== null,
    isFrozen: async (accountId) => frozen.has(accountId),
    findPayment: async ({ quote_token }) => payments.get(quote_token) ?? { paid: false, owner: null },
    getAttemptReport: (attempt) => call(base.bus, chainSubmitter, 'getAttemptReport', attempt),
  };
  const progressSubscription = subscribe(
    base.bus,
    chainSubmitter,
    { settleProgressed: settleProgressed(deps) },
    base.quarantine,
  );
  const walletSubscription = subscribe(
    base.bus,
    wallet,
    { delegationChanged: delegationChanged(deps) },
    base.quarantine,
  );
  const resolver = quarantineResolver(deps);
  const serving = serve(base.bus, settlement, {
    ...settlementOperations(deps),
    ...delegateOperations(deps),
    ...refundOperations(deps),
    ...operatorOperations(deps),
    ...operatorHandlers({
      pool: base.pool,
      consuming: [progressSubscription, walletSubscription],
      resolver,
    }),
  });
  const walletBus = await testBus.as('wallet');
  chain = await testBus.as('chain-submitter');
  gateway = await testBus.as('gateway');
  funding = await testBus.as('funding');
  walletBus.nc.subscribe('int.wallet.find', {
    callback: (_error, msg) => {
      const { input } = msg.json<{ input: { account_id: string; wallet_id?: string } }>();
      const found = wallets.get(input.wallet_id ?? input.account_id);
      msg.respond(
        JSON.stringify({
          ok: found === undefined ? null : { ...found, token_account: found.owner, authority: AUTHORITY },
        }),
      );
    },
  });
  chain.nc.subscribe('int.chain-submitter.observeWallet', {
    callback: (_error, msg) => {
      const { input } = msg.json<{ input: { owner: string } }>();
      const { balance, allowance, slot } = sights.get(input.owner)!;
      const sight = {
        balance: `${balance}`,
        allowance: `${allowance}`,
        slot,
        exists: true,
        delegate: AUTHORITY,
        served: true,
      };
      msg.respond(JSON.stringify({ ok: { token_account: input.owner, ...sight } }));
    },
  });
  chain.nc.subscribe('int.chain-submitter.getAttemptReport', {
    callback: (_error, msg) => void msg.respond(JSON.stringify({ ok: attemptReport })),
  });
  operator = await testBus.as('operator');
  const watcher = await testBus.as('admin' as BusUser);
  watcher.nc.subscribe('evt.settlement.reversed', {
    callback: (_error, msg) => void reversals.push(msg.json()),
  });
  watcher.nc.subscribe('evt.settlement.issued', {
    callback: (_error, msg) => void issues.push(msg.json()),
  });
  await watcher.nc.flush();
  await Promise.all([walletBus.nc.flush(), chain.nc.flush(), base.bus.nc.flush()]);
  stops.push(
    () => serving.stop(),
    () => progressSubscription.stop(),
    () => walletSubscription.stop(),
    () => closeBase(base),
    () => testBus.stop(),
    () => admin.end(),
    () => database.drop(),
  );
};

export const stopFixture = async (): Promise<void> => {
  for (const stop of stops) await stop();
};

export const vendor = { account_id: newId('acct'), service_id: newServiceId() };
export const key: Principal = { kind: 'service_key', key_id: 'k', ...vendor };

export type DelegateKey = Extract<Principal, { kind: 'delegate_key' }>;

/** A delegate's key on a wallet, with caps in micro-units. */
export const delegateOf = async (
  { account_id }: { account_id: string },
  caps: Partial<Record<'per_payment' | 'daily' | 'monthly' | 'total', bigint>> = {},
  allowed_service_ids: string[] | null = null,
): Promise<DelegateKey> => {
  const { wallet_id, owner } = wallets.get(account_id)!;
  wallets.set(wallet_id, { wallet_id, owner });
  const delegate_id = newId('del');
  const limits = limitsOf(caps);
  const input = { delegate_id, account_id, limits, allowed_service_ids, expected_version: 0 };
  await upsertDelegate(deps)(input);
  return { kind: 'delegate_key', account_id, delegate_id, wallet_id, key_id: 'k' };
};

/** Caps as the wire has them. */
export const limitsOf = (caps: Partial<Record<'per_payment' | 'daily' | 'monthly' | 'total', bigint>>) => {
  const of = (cap: bigint | undefined) => (cap === undefined ? null : `${cap}`);
  const { per_payment, daily, monthly, total } = caps;
  return { per_payment: of(per_payment), daily: of(daily), monthly: of(monthly), total: of(total) };
};

/** What the delegate may spend and has, as identity is told. */
export const spendingOf = async ({ account_id, delegate_id }: DelegateKey) =>
  (await listDelegateSpending(deps)({ account_id, delegate_ids: [delegate_id] }))[0]!;

/** A consumer with a wallet of its own. */
export const consumer = (
  balance = 100_000_000n,
  allowance = balance,
): Extract<Principal, { kind: 'jwt' }> & { owner: string } => {
  const account_id = newId('acct');
  const owner = `Consumer${account_id.slice(5).replaceAll(/[0l]/g, 'z')}`.slice(0, 34);
  wallets.set(account_id, { wallet_id: newId('wal'), owner });
  sights.set(owner, { balance, allowance, slot: 100 });
  return Object.defineProperty({ kind: 'jwt', account_id, session_id: 's', auth_time: 0 } as never, 'owner', {
    value: owner,
  });
};

export const quote = (
  amount = 1_000_000n,
  {
    expiresInMs = 600_000,
    window = 900,
    scope = null,
  }: { expiresInMs?: number; window?: number; scope?: QuoteClaims['scope'] } = {},
) => {
  const now = base.clock.now();
  const quote_id = newId('q');
  const quote_token = signToken(
    'quote',
    {
      env: 'test',
      quote_id,
      vendor_account_id: vendor.account_id,
      service_id: vendor.service_id,
      service_name: 'Weather',
      payout_address: PAYOUT,
      mint: MINT,
      quote_amount: `${amount}`,
      fee_amount: '10000',
      currency: 'USDC',
      issued_at: isoTime(now),
      expires_at: isoTime(now + expiresInMs),
      redeem_window_seconds: window,
      scope,
    },
    quoteKey,
  );
  return { quote_id, quote_token };
};

export type Settled = {
  settlement_id: string;
  status: string;
  settlement_token?: string;
  tx_hash: string | null;
};
export const as = <T>(principal: Principal, operation: string, input: object) =>
  forward(gateway, settlement, operation, input, principal, { timeoutMs: 5000, headers: {} }) as Promise<T>;
export const pay = (
  payer: Principal,
  { quote_token }: { quote_token: string },
  payment_attempt_id: string = newId('evt'),
) => as<Settled>(payer, 'settle', { quote_token, payment_attempt_id });
const codeOf = (error: unknown) => (error instanceof ServiceError ? error.code : String(error));
export const outcome = (work: Promise<unknown>) => work.then(() => 'ok', codeOf);

export const say = async (object_id: string, status: Progress['status'], rest: Partial<Progress> = {}) => {
  await publishEvent(chain, 'chain-submitter.settleProgressed', {
    object_id,
    status,
    generation: 1,
    tx_hash: HASH[0],
    slot: 101,
    failure: null,
    ...rest,
  });
};
export const row = async (settlementId: string) => {
  const { rows } = await admin.query('select * from settlements where settlement_id = $1', [settlementId]);
  return rows[0] as {
    status: Status;
    chain_status: ChainStatus;
    tx_hash: string;
    superseded_tx_hashes: string[];
    dispatch_count: number;
  };
};
export const until = waitFor;
export const held = async (payer: Principal & { account_id: string }) =>
  BigInt(
    (
      await admin.query('select coalesce(sum(held), 0)::text as held from payers where account_id = $1', [
        payer.account_id,
      ])
    ).rows[0].held,
  );
export const sight = async (payer: Principal & { account_id: string }) =>
  (
    await admin.query('select balance::text, allowance::text from payers where account_id = $1', [
      payer.account_id,
    ])
  ).rows[0];

/** A payment that is on its way: accepted, its settle call still waiting. */
export const underWay = async (
  payer: Principal & { account_id: string },
  q: { quote_token: string; quote_id: string } = quote(),
  attempt?: string,
) => {
  const answer = pay(payer, q, attempt);
  const { rows } = await until(
    () =>
      admin.query<{ settlement_id: string }>(
        "select settlement_id from settlements where quote_id = $1 and status <> 'failed'",
        [q.quote_id],
      ),
    ({ rows: found }) => found.length > 0,
  );
  return { settlementId: rows[0]!.settlement_id, answer };
};

/** A payment that is confirmed. */
export const paid = async (
  payer: Principal & { account_id: string } = consumer(),
  q = quote(),
  attempt?: string,
) => {
  const { settlementId, answer } = await underWay(payer, q, attempt);
  await say(settlementId, 'confirmed');
  return { settlementId, answer: await answer, payer };
};
