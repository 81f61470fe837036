import { expireInFlight } from '../../services/chain-submitter/broadcast/expiry.ts';
import { createInFlightTransactions } from '../../services/chain-submitter/broadcast/in-flight.ts';
import { createPolls, pollDue } from '../../services/chain-submitter/broadcast/poller.ts';
import { rebroadcast } from '../../services/chain-submitter/broadcast/rebroadcast.ts';
import { createBlockhashes } from '../../services/chain-submitter/chain/blockhashes.ts';
import { createRpcPool } from '../../services/chain-submitter/chain/rpc-pool.ts';
import { createTokenAccounts } from '../../services/chain-submitter/chain/token-accounts.ts';
import { createExecutor } from '../../services/chain-submitter/execution/executor.ts';
import { settle as settleJob } from '../../services/chain-submitter/execution/settle.ts';
import { sweep } from '../../services/chain-submitter/execution/sweep.ts';
import { createGroupCommit } from '../../services/chain-submitter/ledger/group-commit.ts';
import { createHints } from '../../services/chain-submitter/ledger/hints.ts';
import { upsertWorker } from '../../services/chain-submitter/ledger/store/workers.ts';
import {
  createWaiters as createProgressWaiters,
  handingToWaiters,
} from '../../services/chain-submitter/ledger/waiters.ts';
import type { OwnBudgets } from '../../services/chain-submitter/limits/own-budgets.ts';
import { createIntentReader } from '../../services/chain-submitter/payments/sign-once.ts';
import { observeWallet } from '../../services/chain-submitter/reads/observe-wallet.ts';
import { observeWallets } from '../../services/chain-submitter/reads/observe-wallets.ts';
import { cancelPrepared } from '../../services/chain-submitter/user-signed/cancel-prepared.ts';
import { observePrepared } from '../../services/chain-submitter/user-signed/observe-prepared.ts';
import { prepareTransfer } from '../../services/chain-submitter/user-signed/prepare-transfer.ts';
import { submitPrepared } from '../../services/chain-submitter/user-signed/submit-prepared.ts';
import { denyApproval } from '../../services/settlement/approvals/deny-approval.ts';
import { recordApproval } from '../../services/settlement/approvals/record-approval.ts';
import { capture } from '../../services/settlement/authorizations/capture.ts';
import { close } from '../../services/settlement/authorizations/close.ts';
import { createCloseAuthorizations } from '../../services/settlement/authorizations/close-authorizations.ts';
import { createEndAuthorization } from '../../services/settlement/authorizations/end-authorization.ts';
import { endDueAuthorizations } from '../../services/settlement/authorizations/end-due-authorizations.ts';
import { usage } from '../../services/settlement/authorizations/usage.ts';
import { voidAuthorization } from '../../services/settlement/authorizations/void.ts';
import { createAcceptedEvents, publishAccepted } from '../../services/settlement/core/accepted-events.ts';
import { createTermsCache } from '../../services/settlement/core/terms-cache.ts';
import { consume } from '../../services/settlement/delivering/consume.ts';
import { expireSettlements } from '../../services/settlement/delivering/expire-settlements.ts';
import { redeem } from '../../services/settlement/delivering/redeem.ts';
import { releaseRefund } from '../../services/settlement/refunds/release-refund.ts';
import { reserveRefund } from '../../services/settlement/refunds/reserve-refund.ts';
import { onSettleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import { resumeSettlements } from '../../services/settlement/settling/resume-settlements.ts';
import { settle } from '../../services/settlement/settling/settle.ts';
import type { Waiting } from '../../shared/bus/wake.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { HourlyCaps } from '../../shared/db/hourly-caps.ts';
import { readsOf } from '../../shared/db/reads.ts';
import { actors } from './actors.ts';
import { type Bus, createRelay } from './bus.ts';
import type { Chain } from './chain.ts';
import { countedAgain } from './counted-again.ts';
import { type Database, EPOCH, type Outbox } from './database.ts';
import { type Harness, isMistake, type Process } from './harness.ts';
import { outgoingOperations, startOutgoing } from './outgoing-processes.ts';
import { every, loggerOf } from './process-jobs.ts';
import { createProvider, type Profile } from './providers.ts';
import { publishFirst } from './publish-first.ts';
import type { SubmitterTables } from './submitter-tables.ts';
import { startWatching } from './watching.ts';

/** Slow enough for a short run, fast enough that a fork is observed before a blockhash expires. */
const POLL_MS = 400;
const SECOND_MS = 1000;
const SETTLE_WAIT_MS = 15_000;
const CAP_REACHED = 0.2;
/** A cache allocates its size when it is made, and a run makes many: each process that starts. */
const CACHED = 100;

type Surroundings = { harness: Harness; bus: Bus; chain: Chain };

/**
 * A run of chain-submitter: the product's executor, jobs and stores, with virtual time and
 * simulated ports.
 */
export const startSubmitter = (
  { harness, bus, chain }: Surroundings,
  {
    process,
    database,
    tables: { outbox, announced },
    profiles,
  }: {
    process: Process;
    database: Database;
    tables: Pick<SubmitterTables, 'outbox' | 'announced'>;
    profiles: readonly Profile[];
  },
) => {
  const isSeenByOne = harness.off?.endsWith('every provider') === true;
  const seenBy = isSeenByOne ? profiles.slice(0, 1) : profiles;
  const providers = seenBy.map((profile, index) =>
    createProvider(harness, chain, actors, { process, number: index + 1, profile }),
  );
  const rpc = createRpcPool(providers, (ms) => harness.sleep(process, ms));
  const connected = database.connect(process);
  const isPublishedFirst = harness.off === 'confirmed recorded before its event';
  const pool = isPublishedFirst
    ? publishFirst(harness, { bus, chain, announced, process }, connected)
    : connected;
  const waiting = createProgressWaiters();
  const parts = {
    pool,
    relay: handingToWaiters(createRelay(harness, { bus, outbox, process }), waiting),
    clock: () => EPOCH + harness.now() + process.skewMs,
    logger: loggerOf(harness, process),
    workerId: process.name,
    environment: 'test',
    network: actors.network,
    keys: actors.publicKeys,
    rpc,
    tokenAccounts: createTokenAccounts(rpc, actors.mint, { maxReady: CACHED }),
    blockhashes: createBlockhashes(rpc),
    priorityFees: { priceOf: async () => null },
    signers: actors.signers,
    caps: {
      reserveMicro: async () =>
        harness.random.chance(harness.faults.lostAnswer)
          ? { reached: 'wallet' as const, capMicro: 0n }
          : { release: () => {} },
    },
    limits: {
      ...{
        fees_settle: 1n,
        fees_incoming: 1n,
        rent_settle: 1n,
        fees_user: 1n,
        rent_user: 1n,
        fees_revoke: 1n,
      },
      ...{ cosignatures: 1n, revokes: 1n, incoming_failures: 1n, incoming_first_failures: 1n },
    },
    ownBudgets: {
      ...{ beginCreation: () => true, endCreation: () => {}, claimOf: () => null, reserve: async () => {} },
      earned: () => {},
      beforeSigning: async () => ({ release: () => {} }),
    } as unknown as OwnBudgets,
    cosigning: { check: async () => {}, reserve: async () => {} },
    groupCommit: createGroupCommit(pool, process.name),
    readIntent: createIntentReader(pool),
    inFlight: createInFlightTransactions(),
    hints: createHints(CACHED),
  };
  const deps = { ...parts, executor: createExecutor(parts) };
  const start = async (): Promise<void> => {
    try {
      await upsertWorker(deps.pool, deps.workerId, SECOND_MS);
    } catch {
      return harness.inside(process, 200, () => void start());
    }
    const polls = createPolls((work) => {
      void work.catch((error: unknown) => {
        if (isMistake(error)) harness.fault(error);
      });
    });
    every(harness, process, SECOND_MS, () => sweep(deps));
    every(harness, process, SECOND_MS, () => expireInFlight(deps));
    every(harness, process, SECOND_MS, () => rebroadcast(deps));
    every(harness, process, POLL_MS, () => pollDue(deps, polls));
    const settle = settleJob(deps);
    bus.consume(process, {
      'job.chain-submitter.settle': (job: Parameters<typeof settle>[0], from?: string) => {
        if (from !== undefined) waiting.add(job.settlement_id, from);
        return settle(harness.off === 'extension: counted once by the signer' ? countedAgain(job) : job);
      },
    });
  };
  void start();
  return {
    process,
    deps,
    observe: observeWallet(deps),
    observeWallets: observeWallets(deps),
    prepareTransfer: prepareTransfer(deps),
    submitPrepared: submitPrepared(deps),
    cancelPrepared: cancelPrepared(deps),
    observePrepared: observePrepared(deps),
    ...outgoingOperations(deps),
  };
};
export type Submitter = ReturnType<typeof startSubmitter>;

/** Waiting requests of all replicas. A wake that is sent over the network may be lost. */
export const createWaiters = (harness: Harness) => {
  const replicas = new Map<Process, Map<string, Set<(record?: unknown) => void>>>();
  return (process: Process): Waiting => {
    const waiters = new Map<string, Set<(record?: unknown) => void>>();
    replicas.set(process, waiters);
    return {
      until: (key, timeoutMs) => {
        let done = (_record?: unknown) => {};
        const woken = new Promise<unknown>((resolve) => {
          const set = waiters.get(key) ?? new Set();
          done = (record) => {
            set.delete(done);
            if (set.size === 0) waiters.delete(key);
            resolve(record);
          };
          waiters.set(key, set.add(done));
          harness.inside(process, timeoutMs, () => done());
        });
        return { woken, cancel: () => done() };
      },
      wake: (key, record) => {
        const here = record === undefined ? undefined : waiters.get(key);
        if (here !== undefined) for (const done of here) done(record);
        else
          for (const others of replicas.values())
            for (const done of others.get(key) ?? [])
              if (!harness.random.chance(harness.faults.loss)) harness.schedule(5, () => done());
      },
      stop: async () => {},
    };
  };
};

/**
 * A run of settlement: the product's handlers, consumer, jobs and stores, with virtual time and
 * simulated ports.
 */
export const startSettlement = (
  { harness, bus }: Omit<Surroundings, 'chain'>,
  {
    process,
    database,
    outbox,
    waiting,
    submitters,
    choices: { hasExtensions, newPayerMicro },
  }: {
    process: Process;
    database: Database;
    outbox: Outbox;
    waiting: Waiting;
    submitters: () => readonly Submitter[];
    /** It looks at the wallets of open authorizations, if the run has any that are extended. */
    choices: { hasExtensions: boolean; newPayerMicro: bigint };
  },
) => {
  const pool = database.connect(process);
  const records = {
    pool,
    reads: readsOf(pool),
    clock: () => EPOCH + harness.now() + process.skewMs,
    relay: createRelay(harness, { bus, outbox, process }),
  };
  const caps: HourlyCaps = {
    counts: 'paid',
    reserve: async () => ({ release: () => {} }),
    refillsInSeconds: () => 3600,
    limits: { walletMicro: 0n, environmentMicro: 0n, ofWallet: new Map() },
  };
  /** Some captures meet a reached cap, which refills soon. */
  const capsOfCaptures: HourlyCaps = {
    ...caps,
    reserve: async (payer, amount, at) =>
      hasExtensions && harness.random.chance(CAP_REACHED)
        ? { reached: 'environment', capMicro: amount }
        : caps.reserve(payer, amount, at),
    refillsInSeconds: () => 5,
  };
  const deps: Parameters<typeof settle>[0] &
    Parameters<typeof redeem>[0] &
    Parameters<typeof onSettleProgressed>[0] &
    Parameters<typeof usage>[0] &
    Parameters<typeof capture>[0] &
    Parameters<typeof voidAuthorization>[0] = {
    ...records,
    logger: loggerOf(harness, process),
    isChainReadable: async () => true,
    budgetRefillsInSeconds: async () => null,
    isPaused: async () => false,
    isFrozen: async () => false,
    findPayment: async () => {
      throw new Error('no database is restored in the simulation');
    },
    environment: 'test',
    publicKeys: actors.publicKeys,
    signingKey: actors.settlementKey,
    mint: actors.mint,
    feeWallet: actors.network.feeWallet,
    settleWaitMs: SETTLE_WAIT_MS,
    quarantine: async ({ reason }) => harness.fail('no event contradicts a record', reason),
    waiting,
    terms: createTermsCache(),
    endAuthorization: createEndAuthorization({ ...records, caps: capsOfCaptures }),
    // No authorization is older than a restore of its database here.
    recordLostCapture: async () => false,
    accepted: createAcceptedEvents(),
    // A decline is no record of money, and no other statement reads it.
    recordDecline: async () => {},
    // No run authorizes as much but for a new payer.
    tabCaps: { amountMicro: 10n ** 12n, newPayerMicro, vendorMicro: 10n ** 12n },
    caps,
    authorizedCaps: caps,
    findWallet: async (accountId) => actors.payers.find(({ account_id }) => account_id === accountId) ?? null,
    observeWallet: async (owner) => {
      const able = submitters().filter((one) => one.process.alive);
      const away = new ServiceError('service_unavailable', 'no process answers', { money_moved: 'no' });
      if (able.length === 0) throw away;
      // The caller gives up on a process that died or is paused.
      const gaveUp = harness.sleep(process, 5000).then(() => {
        throw away;
      });
      return Promise.race([harness.random.pick(able).observe({ owner }), gaveUp]);
    },
  };
  every(harness, process, 2 * SECOND_MS, expireSettlements(deps));
  const endDue = endDueAuthorizations({ ...deps, caps: capsOfCaptures });
  const closeAuthorizations = createCloseAuthorizations({ pool: records.pool, endDue });
  every(harness, process, SECOND_MS, endDue);
  if (hasExtensions) startWatching(harness, { ...records, endDue }, { process, submitters });
  every(harness, process, SECOND_MS, publishAccepted(deps));
  every(harness, process, 2 * SECOND_MS, resumeSettlements(deps));
  bus.consume(process, { 'evt.chain-submitter.settleProgressed': onSettleProgressed(deps) });
  return {
    process,
    deps,
    settle: settle(deps),
    redeem: redeem(deps),
    consume: consume(deps),
    usage: usage(deps),
    capture: capture(deps),
    void: voidAuthorization(deps),
    close: close({ ...records, closeAuthorizations }),
    recordApproval: recordApproval(deps),
    denyApproval: denyApproval(deps),
    reserveRefund: reserveRefund(deps),
    releaseRefund: releaseRefund(deps),
    ...startOutgoing(harness, deps, { process, submitters }),
  };
};
export type SettlementReplica = ReturnType<typeof startSettlement>;
