import { randomUUID } from 'node:crypto';
import { recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { answerProviders } from '../../shared/bus/providers.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter } from '../../shared/contract/index.ts';
import { createBudgets, deleteOldSpending } from '../../shared/db/budget.ts';
import { hourlyLimits } from '../../shared/db/hourly-caps.ts';
import { acceptHandedOver, acceptJobs } from '../../shared/events/consume.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { startLanes } from '../../shared/lanes/lanes.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { whileOwned } from '../../shared/lib/lane.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { withInspection } from '../../shared/operator/inspections.ts';
import { expireInFlight } from './broadcast/expiry.ts';
import { createInFlightTransactions } from './broadcast/in-flight.ts';
import { startPoller } from './broadcast/poller.ts';
import { rebroadcast } from './broadcast/rebroadcast.ts';
import { readCosts } from './broadcast/unread-costs.ts';
import { createBlockhashes } from './chain/blockhashes.ts';
import { createPriorityFees } from './chain/priority-fees.ts';
import { MINUTES, NO_CALLS, reportCalls } from './chain/provider-calls.ts';
import type { RpcPool } from './chain/rpc-pool.ts';
import { createTokenAccounts } from './chain/token-accounts.ts';
import { type Config, limitsOf } from './config.ts';
import { createTokenAccount } from './execution/create-token-account.ts';
import { createExecutor } from './execution/executor.ts';
import { fund } from './execution/fund.ts';
import { settle } from './execution/settle.ts';
import { SWEEP_EVERY_MS, sweep } from './execution/sweep.ts';
import { startWorker } from './execution/worker.ts';
import { buildIncoming } from './incoming/build-incoming.ts';
import { checkIncoming } from './incoming/check-incoming.ts';
import { closeIncoming } from './incoming/close-incoming.ts';
import { createPayoutAccount } from './incoming/create-payout-account.ts';
import { findLostIncoming } from './incoming/find-lost-incoming.ts';
import { getBlockhash } from './incoming/get-blockhash.ts';
import { getFeePayers } from './incoming/get-fee-payers.ts';
import { createIncomingCommit } from './incoming/group-commit.ts';
import { createLookupTables } from './incoming/lookup-tables.ts';
import { createOutcomes } from './incoming/outcomes.ts';
import { createSharedReads } from './incoming/shared-reads.ts';
import { createSignedPayments } from './incoming/signed-payment.ts';
import { createSimulations } from './incoming/simulations.ts';
import { submitIncoming } from './incoming/submit-incoming.ts';
import { createGroupCommit } from './ledger/group-commit.ts';
import { createHints } from './ledger/hints.ts';
import type { Network } from './ledger/model/network.ts';
import { releaseLapsedReservations } from './ledger/store/grants.ts';
import { deleteUnsent } from './ledger/store/unsent.ts';
import { createWaiters, handingToWaiters } from './ledger/waiters.ts';
import { createCosigning } from './limits/cosigning.ts';
import { getBudgets } from './limits/get-budgets.ts';
import { getCaps } from './limits/get-caps.ts';
import { getCosigningLimits } from './limits/get-cosigning-limits.ts';
import { createIncomingCaps } from './limits/incoming-caps.ts';
import { createOwnBudgets } from './limits/own-budgets.ts';
import { reserveTokenAccount } from './limits/reserve-token-account.ts';
import { setCosigningFactor } from './limits/set-cosigning-factor.ts';
import { createCaps } from './limits/spending-caps.ts';
import {
  collectBudgets,
  collectCaps,
  collectCosts,
  collectFeePayer,
  collectIntents,
  collectReconcile,
} from './operator/gauges.ts';
import { getAttemptReport } from './operator/get-attempt-report.ts';
import { getSigning } from './operator/get-signing.ts';
import { listReplicas } from './operator/list-replicas.ts';
import { quarantineResolver } from './operator/quarantine.ts';
import { findWorkRecords } from './operator/records.ts';
import { setSigningPaused } from './operator/set-signing-paused.ts';
import { listWaitingWork } from './operator/waiting.ts';
import { closeOutgoing } from './outgoing/close-outgoing.ts';
import { findLostOutgoing } from './outgoing/find-lost-outgoing.ts';
import { observeOutgoing } from './outgoing/observe-outgoing.ts';
import { signOutgoing } from './outgoing/sign-outgoing.ts';
import { createIntentReader } from './payments/sign-once.ts';
import { createRecordComparison } from './reads/compare-records.ts';
import { findCapture } from './reads/find-capture.ts';
import { findPayment } from './reads/find-payment.ts';
import { getCosts } from './reads/get-costs.ts';
import { listLostRecords } from './reads/list-lost-records.ts';
import { observeChain } from './reads/observe-chain.ts';
import { observeTransfers } from './reads/observe-transfers.ts';
import { observeWallet } from './reads/observe-wallet.ts';
import { observeWallets } from './reads/observe-wallets.ts';
import type { Signers } from './signing/signer.ts';
import { cancelPrepared } from './user-signed/cancel-prepared.ts';
import { checkPayoutAddress } from './user-signed/check-payout-address.ts';
import { describeWallet } from './user-signed/describe-wallet.ts';
import { observePrepared } from './user-signed/observe-prepared.ts';
import { prepareDelegation } from './user-signed/prepare-delegation.ts';
import { prepareTransfer } from './user-signed/prepare-transfer.ts';
import { submitPrepared } from './user-signed/submit-prepared.ts';

const SECOND_MS = 1000;
const REBROADCAST_MS = 250;
const COSTS_EVERY_MS = 5000;
const HOUR_MS = 3_600_000;

/** The access to the chain. This service calls it and no other service. */
type Chain = {
  network: Network;
  rpc: RpcPool;
  signers: Signers;
  /** The configured numbers of fee payers and delegate authorities, by address. */
  numbers: ReadonlyMap<string, number>;
  /** An account's balance, cached for a while. */
  lamportsOf: (address: string) => Promise<number>;
};

const capsOf = (config: Config) => ({
  ...hourlyLimits(config),
  incomingMicro: config.INCOMING_HOURLY_CAP_MICRO,
});

const createDeps = (base: ServiceBase, config: Config, chain: Chain) => {
  const { pool, clock, logger } = base;
  const { network, rpc } = chain;
  const limits = limitsOf(config);
  const limited = { pool, clock: clock.now, network, limits };
  const workerId = randomUUID();
  const waiters = createWaiters();
  const tokenAccounts = createTokenAccounts(rpc, network.mint);
  const programs = config.INCOMING_PROGRAMS;
  const executing = {
    ...recordsOf(base),
    relay: handingToWaiters(base.relay, waiters),
    ...chain,
    workerId,
    environment: config.ENVIRONMENT,
    keys: config.PUBLIC_KEYS,
    tokenAccounts,
    signedPayments: createSignedPayments({
      pool,
      network,
      tokenAccounts,
      programs,
      lookupTables: createLookupTables({ rpc, logger }),
      outcomes: createOutcomes({ rpc, network, logger, programs }),
    }),
    blockhashes: createBlockhashes(rpc),
    priorityFees: createPriorityFees({ rpc, network, logger }),
    caps: createCaps(pool, clock.now, capsOf(config)),
    incomingCaps: createIncomingCaps(pool, clock.now, capsOf(config)),
    limits,
    ownBudgets: createOwnBudgets({
      ...limited,
      budgets: createBudgets(pool, clock.now),
      solPriceMicro: config.SOL_PRICE_MICRO,
    }),
    cosigning: createCosigning(limited),
    groupCommit: createGroupCommit(pool, workerId),
    simulations: createSimulations({ rpc, logger }),
    sharedReads: createSharedReads({ pool, rpc }),
    readIntent: createIntentReader(pool),
    incomingCommit: createIncomingCommit(pool, limits, workerId),
    inFlight: createInFlightTransactions(),
    hints: createHints(),
    waiters,
  };
  return { ...executing, executor: createExecutor(executing) };
};

type Deps = ReturnType<typeof createDeps>;

const operations = (deps: Deps, config: Config) => ({
  getCaps: getCaps(deps, capsOf(config)),
  getBudgets: getBudgets(deps),
  listReplicas: listReplicas(deps),
  getSigning: getSigning(deps),
  getCosts: getCosts(deps),
  setSigningPaused: setSigningPaused(deps),
  getCosigningLimits: withInspection(
    deps.pool,
    'co-signatures',
    getCosigningLimits(deps),
    ({ account_id }) => [account_id],
  ),
  setCosigningFactor: setCosigningFactor(deps),
  observeChain: observeChain(deps),
  findPayment: findPayment(deps),
  findCapture: findCapture(deps),
  listLostRecords: listLostRecords(deps),
  getAttemptReport: getAttemptReport(deps),
  observeWallet: observeWallet(deps),
  observeTransfers: observeTransfers(deps),
  observeWallets: observeWallets(deps),
  describeWallet: describeWallet(deps),
  checkPayoutAddress: checkPayoutAddress(deps),
  reserveTokenAccount: reserveTokenAccount(deps),
  prepareDelegation: prepareDelegation(deps),
  submitPrepared: submitPrepared(deps),
  prepareTransfer: prepareTransfer(deps),
  cancelPrepared: cancelPrepared(deps),
  observePrepared: observePrepared(deps),
  getFeePayers: getFeePayers(deps),
  getBlockhash: getBlockhash(deps),
  buildIncoming: buildIncoming(deps),
  createPayoutAccount: createPayoutAccount(deps),
  checkIncoming: checkIncoming(deps),
  submitIncoming: submitIncoming(deps),
  closeIncoming: closeIncoming(deps),
  findLostIncoming: findLostIncoming(deps),
  signOutgoing: signOutgoing(deps),
  closeOutgoing: closeOutgoing(deps),
  observeOutgoing: observeOutgoing(deps),
  findLostOutgoing: findLostOutgoing(deps),
});

const startLoops = (deps: Deps, records: ReturnType<typeof createRecordComparison>, { POLL_MS }: Config) => {
  const { pool, logger } = deps;
  return startWorker(deps, () => ({
    jobs: [
      everyMs(SWEEP_EVERY_MS, 'sweep', (nextWithinMs) => sweep(deps, nextWithinMs), logger),
      everyMs(REBROADCAST_MS, 'rebroadcast', () => rebroadcast(deps), logger),
      everyMs(SECOND_MS, 'release-lapsed-reservations', () => releaseLapsedReservations(pool), logger),
      everyMs(COSTS_EVERY_MS, 'read-costs', () => readCosts(deps), logger),
      everyMs(SECOND_MS, 'expire', () => expireInFlight(deps), logger),
      everyMs(SECOND_MS, 'compare-records', () => records.compareWhenDue(), logger),
      everyMs(HOUR_MS, 'delete-old-spending', () => deleteOldSpending(pool), logger),
      everyMs(HOUR_MS, 'delete-unsent', () => deleteUnsent(pool), logger),
    ],
    poller: startPoller(deps, POLL_MS),
  }));
};

const gaugesOf = ({ pool, limits, network, lamportsOf }: Deps, config: Config, clock: Clock) => [
  collectIntents(pool),
  collectCaps(pool, capsOf(config)),
  collectBudgets(pool, limits),
  collectCosts(pool, clock),
  collectReconcile(pool),
  collectFeePayer(async () => Math.min(...(await Promise.all(network.payingFeePayers.map(lamportsOf))))),
];

/** Accepts the jobs of a lane from the replicas that wait for their payments. */
const acceptSettles = (bus: Bus, lane: number, deps: Deps) => {
  const pay = settle(deps);
  return acceptHandedOver(bus, { service: 'chain-submitter', name: 'settle', receiver: lane }, 'settlement', {
    schema: chainSubmitter.jobs.settle.payload,
    handle: (job, replicaId) => {
      if (replicaId !== undefined) deps.waiters.add(job.settlement_id, replicaId);
      return pay(job);
    },
  });
};

/** What this process has called of each provider, and how far each has come. */
const providerReport = ({ rpc }: Pick<Deps, 'rpc'>) => {
  const [calls, slots] = [reportCalls(), rpc.reportSlots()];
  return {
    minutes: MINUTES,
    providers: rpc.providers.map(({ number }) => ({
      number,
      ...NO_CALLS,
      ...calls.find((each) => each.number === number),
      ...slots.find((each) => each.number === number),
    })),
  };
};

/** Starts chain-submitter. */
export const createService = async (base: ServiceBase, config: Config, chain: Chain): Promise<Service> => {
  const { bus, pool, quarantine } = base;
  const deps = createDeps(base, config, chain);
  const records = createRecordComparison(deps);
  await records.compareAtStart();
  const worker = await startLoops(deps, records, config);
  const jobs = { settle: settle(deps), fund: fund(deps), createTokenAccount: createTokenAccount(deps) };
  const consuming = [acceptJobs(bus, chainSubmitter, jobs, quarantine)];
  const lanes = startLanes(base);
  const operating = operatorHandlers({
    pool,
    consuming,
    resolver: quarantineResolver(deps),
    findRecords: findWorkRecords(deps),
    listWaiting: listWaitingWork(pool),
  });
  answerProviders(bus, async () => providerReport(deps));
  return {
    serving: serve(bus, chainSubmitter, {
      ...operations(deps, config),
      listSentEvents: listSentEvents(pool),
      ...operating,
    }),
    consuming,
    lanes: [lanes, whileOwned(lanes, (lane) => acceptSettles(bus, lane, deps))],
    jobs: [worker],
    gauges: [...gaugesOf(deps, config, base.clock.now), lanes.gauges],
  };
};
