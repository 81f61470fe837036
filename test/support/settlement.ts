import pg from 'pg';
import { config as schema } from '../../services/settlement/config.ts';
import { listDelegateSpending } from '../../services/settlement/delegates/list-delegate-spending.ts';
import { upsertDelegate } from '../../services/settlement/delegates/upsert-delegate.ts';
import { createPeers, PEER_TIMING, type Peers } from '../../services/settlement/peers.ts';
import { createService } from '../../services/settlement/service.ts';
import type { ChainStatus, Status } from '../../services/settlement/settlements/model/status.ts';
import { type Base, closeBase, openBase, stopService } from '../../shared/boot.ts';
import { forward } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { eventDurable } from '../../shared/bus/topology.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { settlement } from '../../shared/contract/index.ts';
import { byName, CAPS, type CapName } from '../../shared/contract/limits.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import { newId } from '../../shared/lib/id.ts';
import { unpackToken } from '../../shared/lib/packed-token.ts';
import { createTestBus, type TestBus } from './bus.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database-handle.ts';
import { eventPayloads } from './event-payloads.ts';
import { publishEvent } from './publish.ts';
import { serviceSettings } from './service-settings.ts';
import { FEE_PAYER, incomingServices, NETWORK, serveIncoming } from './settlement-incoming.ts';
import { serveOutgoing } from './settlement-outgoing.ts';
import {
  chainCondition,
  confirmedRefundsOf,
  consumer,
  findLostCapture,
  frozen,
  payments,
  servePeers,
  wallets,
} from './settlement-peers.ts';
import {
  MINT,
  publicKeys,
  type QuoteOptions,
  signingSetting,
  signQuote,
  vendor,
} from './settlement-quotes.ts';
import { waitFor } from './wait.ts';

/**
 * The settlement service over real Postgres and JetStream. The test publishes the events of
 * chain-submitter, so it controls their order, repeats and absence. The e2e tests and those of
 * chain-submitter run the same path over the real chain.
 */
const FEE_WALLET = 'SysvarRent111111111111111111111111111111111';
/** Two signatures. */
export const HASH = ['5'.repeat(80), '6'.repeat(80)] as const;

export let database: TestDatabase;
export let testBus: TestBus;
export let base: Base;
/** What the handlers of the service are made of. */
export let deps: ReturnType<typeof createService>['deps'];
/** The funding service, which reserves and releases refunds. */
export let funding: Bus;
export let operator: Bus;
/** The database's owner. */
export let admin: pg.Pool;
let gateway: Bus;
let chain: Bus;
let listener: Bus;
const stops: (() => Promise<unknown>)[] = [];

/** The hourly caps, far above what tests pay; a test may lower them. */
export const capLimits = {
  walletMicro: 10n ** 12n,
  environmentMicro: 10n ** 14n,
  ofWallet: new Map<string, bigint>(),
};
/** The published events of reversals. */
export const reversedEvents: { settlement_id: string; redeemed: boolean }[] = [];
/** The published events of issued settlements. */
export const issuedEvents: { settlement_id: string }[] = [];
/** The published events of declines, by name. */
export const declineEvents: { event: string; decline_id: string; [field: string]: unknown }[] = [];
/** What was noted for the owners of accounts. */
export const securityNotes: { event: string; account_id: string; kind: string; details: object }[] = [];
/** The published events of approvals, by name. */
export const approvalEvents: { event: string; approval_id: string; status: string }[] = [];

const configOf = () =>
  schema.parse({
    ...serviceSettings('settlement', { testBus, database }),
    LOG_LEVEL: 'fatal',
    SIGNING_KEYS: signingSetting,
    PUBLIC_KEYS: JSON.stringify([...publicKeys.values()].map(({ kid, x }) => ({ kid, x }))),
    USDC_MINT: MINT,
    FEE_WALLET,
    CURSOR_KEY: Buffer.alloc(32, 7).toString('base64url'),
    SETTLE_WAIT_MS: '2000',
    PUBLIC_URL: 'https://api.example.com',
    X402_NETWORK: NETWORK,
  });

/**
 * The calls go over the bus, and no answer is kept, because a test changes what the stand-ins
 * answer. Those below are not served.
 */
const peersOf = (bus: Bus): Peers => ({
  ...createPeers(bus, {
    ...PEER_TIMING,
    walletMaxAgeMs: 0,
    walletRefreshForMs: 0,
    observedMaxAgeMs: 0,
    callTimeoutMs: 1000,
  }),
  isChainReadable: async () => chainCondition.readable,
  budgetRefillsInSeconds: async () => chainCondition.budgetRefillsInSeconds,
  isFrozen: async (accountId) => frozen.has(accountId),
  findCapture: async ({ quote_token }) => findLostCapture(quote_token),
  findPayment: async ({ quote_token }) => payments.get(quote_token) ?? { paid: false, owner: null },
  listConfirmedRefunds: async ({ settlement_id }) => confirmedRefundsOf(settlement_id),
  findService: async (service_id) => incomingServices.get(service_id) ?? null,
  getFeePayers: async () => [FEE_PAYER],
  createPayoutAccount: async () => {},
});

/** No job runs by the time: a test runs it when it has set the clock. */
const CHANGED = { capLimits, jobsEveryMs: 3_600_000, purgeEveryMs: 3_600_000, readMaxAgeMs: 0 };

const listenToEvents = async (): Promise<void> => {
  listener = await testBus.as('admin');
  const collect = (into: object[], ...events: string[]) => {
    for (const event of events)
      listener.nc.subscribe(`evt.settlement.${event}`, {
        callback: (_error, msg) =>
          void into.push(...eventPayloads<object>(msg).map((payload) => ({ event, ...payload }))),
      });
  };
  collect(reversedEvents, 'reversed');
  collect(issuedEvents, 'issued');
  collect(approvalEvents, 'approvalRequested', 'approvalDecided');
  collect(declineEvents, 'declined', 'delegateExhausted');
  collect(securityNotes, 'securityNoted');
  await listener.nc.flush();
};

/** Starts the service; once per test file. */
export const startFixture = async (): Promise<void> => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=settlement,public',
    max: 3,
  });
  const config = configOf();
  base = await openBase('settlement', config);
  const service = createService(base, config, peersOf(base.bus), CHANGED);
  deps = service.deps;
  chain = await servePeers(testBus);
  await serveIncoming(chain);
  await serveOutgoing(chain);
  gateway = await testBus.as('gateway');
  funding = await testBus.as('funding');
  operator = await testBus.as('operator');
  await listenToEvents();
  await base.bus.nc.flush();
  stops.push(
    () => stopService(service),
    () => closeBase(base),
    () => testBus.stop(),
    () => admin.end(),
    () => database.drop(),
  );
};

/** Another replica of the service over the same servers, which shares its calls and events. */
export const startReplica = async () => {
  const other = await openBase('settlement', configOf());
  const service = createService(other, configOf(), peersOf(other.bus), CHANGED);
  await other.bus.nc.flush();
  stops.unshift(
    () => stopService(service),
    () => closeBase(other),
  );
  return service;
};

export const stopFixture = async (): Promise<void> => {
  for (const stop of stops) await stop();
};

export const serviceKey: Principal = { kind: 'service_key', key_id: 'k', ...vendor };

export type DelegateKey = Extract<Principal, { kind: 'delegate_key' }>;
type Caps = Partial<Record<CapName, bigint>>;

type Rights = Partial<
  Pick<Parameters<ReturnType<typeof upsertDelegate>>[0], 'external' | 'approval_above' | 'paused'>
>;
/** A delegate pays vendors of ours only, and needs no approval. */
export const NO_RIGHTS = { external: null, approval_above: null, paused: false };
/** A delegate's key on a wallet, with caps in micro-units. */
export const delegateOf = async (
  { account_id }: { account_id: string },
  caps: Caps = {},
  allowed_service_ids: string[] | null = null,
  rights: Rights = {},
): Promise<DelegateKey> => {
  const { wallet_id, owner } = wallets.get(account_id)!;
  wallets.set(wallet_id, { wallet_id, owner });
  const delegate_id = newId('del');
  const limits = limitsOf(caps);
  const input = {
    ...NO_RIGHTS,
    delegate_id,
    account_id,
    limits,
    allowed_service_ids,
    expected_version: 0,
    ...rights,
  };
  await upsertDelegate(deps)(input);
  return { kind: 'delegate_key', account_id, delegate_id, wallet_id, key_id: 'k' };
};

/** Caps in the format of the API. */
export const limitsOf = (caps: Caps) => byName(CAPS, (name) => caps[name]?.toString() ?? null);

/** What the delegate may spend and has spent, as identity gets it. */
export const spendingOf = async ({ account_id, delegate_id }: DelegateKey) =>
  (await listDelegateSpending(deps)({ account_id, delegate_ids: [delegate_id] }))[0]!;

/**
 * Issues a quote. Its time is that of the machine: `base.clock` follows the database, and stays
 * shifted for up to a second after a test has moved the clock back.
 */
export const quote = (amount = 1_000_000n, options: QuoteOptions = {}) =>
  signQuote(Date.now(), amount, options);

export type SettleAnswer = {
  settlement_id: string;
  status: string;
  settlement_token?: string;
  tx_hash: string | null;
};
/** Calls an operation as the gateway does for this principal. */
export const callAs = <T>(principal: Principal, operation: string, input: object) =>
  forward(gateway, settlement, operation, input, principal, { timeoutMs: 20_000, headers: {} }) as Promise<T>;
export const pay = (
  payer: Principal,
  { quote_token }: { quote_token: string },
  payment_attempt_id: string = newId('evt'),
) => callAs<SettleAnswer>(payer, 'settle', { quote_token, payment_attempt_id });
/** `ok`, or the code of the error. */
export const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

/** Publishes an event of chain-submitter about a settlement. */
export const publishProgress = async (
  object_id: string,
  status: Progress['status'],
  rest: Partial<Progress> = {},
) => {
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
  const packed: Buffer | null = rows[0].quote_token;
  // Another rail has none.
  const quoteToken = packed && unpackToken(packed);
  return { ...rows[0], quote_token: quoteToken } as {
    status: Status;
    chain_status: ChainStatus;
    quote_token: string;
    tx_hash: string;
    superseded_tx_hashes: string[];
    dispatch_count: number;
  };
};

/** A busy machine needs seconds for what takes milliseconds. */
const UNTIL_TIMEOUT_MS = 20_000;

/** Reads until the condition holds. */
export const until = <T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> =>
  waitFor(read, holds, UNTIL_TIMEOUT_MS, 10);

/** Waits for a chain status of a settlement. */
export const untilChainStatus = (settlementId: string, status: ChainStatus) =>
  until(
    () => row(settlementId),
    ({ chain_status }) => chain_status === status,
  );

/** Waits until the service has acknowledged every published event of chain-submitter. */
export const untilEventsHandled = async (): Promise<void> => {
  const jsm = await listener.nc.jetstreamManager();
  const { stream, durable } = eventDurable('settlement', 'chain-submitter', 'settleProgressed');
  await until(
    () => jsm.consumers.info(stream, durable),
    ({ num_pending, num_ack_pending }) => num_pending === 0 && num_ack_pending === 0,
  );
};

export const held = async ({ account_id }: { account_id: string }) => {
  const { rows } = await admin.query(
    'select coalesce(sum(held), 0)::text as held from payers where account_id = $1',
    [account_id],
  );
  return BigInt(rows[0].held);
};
export const storedSnapshot = async ({ account_id }: { account_id: string }) => {
  const { rows } = await admin.query(
    'select balance::text, allowance::text from payers where account_id = $1',
    [account_id],
  );
  return rows[0];
};

/** A payment under way: it is accepted, and its settle call waits. */
export const underWay = async (
  payer: Principal & { account_id: string },
  q: { quote_token: string; quote_id: string } = quote(),
  attempt?: string,
) => {
  const answer = pay(payer, q, attempt);
  // A caller that awaits the answer gets the error. A test that ends earlier does not fail by it.
  answer.catch(() => {});
  const { rows } = await until(
    () =>
      admin.query<{ settlement_id: string }>(
        'select settlement_id from settlements where paying_quote_id = $1',
        [q.quote_id],
      ),
    ({ rows: found }) => found.length > 0,
  );
  return { settlementId: rows[0]!.settlement_id, answer };
};

/** A confirmed payment. */
export const paid = async (
  payer: Principal & { account_id: string } = consumer(),
  q = quote(),
  attempt: string = newId('evt'),
) => {
  const { settlementId, answer } = await underWay(payer, q, attempt);
  await publishProgress(settlementId, 'confirmed');
  const first = await answer;
  // On a busy machine the call answers before the event is handled. A repeat returns the outcome.
  const settled =
    first.status === 'pending'
      ? await until(
          () => pay(payer, q, attempt),
          ({ status }) => status !== 'pending',
        )
      : first;
  return { settlementId, answer: settled, payer };
};
