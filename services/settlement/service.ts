import { recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import { chainSubmitter, identity, settlement, wallet } from '../../shared/contract/index.ts';
import { createBudgets, deleteOldSpending } from '../../shared/db/budget.ts';
import { createHourlyCaps, type HourlyLimits, hourlyLimits } from '../../shared/db/hourly-caps.ts';
import type { Pool } from '../../shared/db/pool.ts';
import { acceptHandedOver, subscribe } from '../../shared/events/consume.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { startLanes } from '../../shared/lanes/lanes.ts';
import { cachedValue } from '../../shared/lib/cached.ts';
import { feeRuleOf } from '../../shared/lib/money/fee-settings.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { accountLimitOperations } from './account-limits/operations.ts';
import { accountErased } from './accounts/on-identity-account-erased.ts';
import { accountFrozen } from './accounts/on-identity-account-frozen.ts';
import { sessionRevoked } from './accounts/on-identity-session-revoked.ts';
import { approvalOperations } from './approvals/operations.ts';
import { type ApprovalRequest, requestApproval } from './approvals/request-approval.ts';
import { createCloseAuthorizations } from './authorizations/close-authorizations.ts';
import { createEndAuthorization } from './authorizations/end-authorization.ts';
import { endDueAuthorizations } from './authorizations/end-due-authorizations.ts';
import { createRecordLostCapture } from './authorizations/lost-capture.ts';
import { createCloseIfShort, watchAuthorizations } from './authorizations/watch-authorizations.ts';
import type { Config } from './config.ts';
import { createAcceptedEvents, publishAccepted } from './core/accepted-events.ts';
import { createTermsCache } from './core/terms-cache.ts';
import { declineOperations } from './declines/operations.ts';
import { purgeOldDeclines } from './declines/purge.ts';
import { createRecordDecline } from './declines/record-decline.ts';
import { delegateChanged } from './delegates/on-identity-delegate-changed.ts';
import { delegateOperations } from './delegates/operations.ts';
import { expireSettlements } from './delivering/expire-settlements.ts';
import { purgeOldUses } from './delivering/purge-uses.ts';
import { feeAccountOperations } from './fee-accounts/operations.ts';
import { incomingPaymentOperations } from './incoming/operations.ts';
import { resumeIncoming } from './incoming/resume-incoming.ts';
import { createIncomingGroupCommit } from './incoming/store/group-commit.ts';
import { collectAttempts, collectBackups, collectCaps, collectIntake } from './operator/gauges.ts';
import { operatorOperations } from './operator/operations.ts';
import { quarantineResolver } from './operator/quarantine-resolver.ts';
import { findPaymentRecords, listPaymentRecords } from './operator/records.ts';
import { getPausedAt } from './operator/store.ts';
import { listWaitingPayments } from './operator/waiting.ts';
import { outgoingPaymentOperations } from './outgoing/operations.ts';
import { resumeOutgoing } from './outgoing/resume-outgoing.ts';
import { onDelegationChanged } from './payers/on-wallet-delegation-changed.ts';
import type { Peers } from './peers.ts';
import { receiptOperations } from './receipts/operations.ts';
import { checkRecords } from './record/check-records.ts';
import { findLostSince } from './record/store/restores.ts';
import { refundOperations } from './refunds/operations.ts';
import { onSettleProgressed } from './settlements/on-chain-submitter-settle-progressed.ts';
import { settlementOperations } from './settlements/operations.ts';
import { resumeSettlements } from './settling/resume-settlements.ts';

const HOUR_MS = 3_600_000;

/** When what is done that no caller waits for, and how old what is read from the tables may be. */
type Timing = { jobsEveryMs: number; purgeEveryMs: number; readMaxAgeMs: number };
const TIMING: Timing = { jobsEveryMs: 1000, purgeEveryMs: HOUR_MS, readMaxAgeMs: 1000 };

const termsOf = (config: Config) => ({
  environment: config.ENVIRONMENT,
  publicKeys: config.PUBLIC_KEYS,
  signingKey: config.SIGNING_KEYS[0]!,
  mint: config.USDC_MINT,
  feeWallet: config.FEE_WALLET,
  cursorKeys: config.CURSOR_KEY,
  settleWaitMs: config.SETTLE_WAIT_MS,
  receiptIssuer: {
    iss: config.PUBLIC_URL,
    env: config.ENVIRONMENT,
    network: config.X402_NETWORK,
    mint: config.USDC_MINT,
  },
  x402Network: config.X402_NETWORK,
  fee: feeRuleOf(config),
  tabCaps: {
    amountMicro: config.TAB_MAX_AMOUNT_MICRO,
    newPayerMicro: config.TAB_MAX_NEW_PAYER_MICRO,
    vendorMicro: config.TAB_MAX_VENDOR_MICRO,
  },
  accruedFee: {
    bps: config.X402_FEE_BPS,
    minMicro: config.X402_FEE_MIN_MICRO,
    solPriceMicro: config.SOL_PRICE_MICRO,
  },
  credit: {
    firstMicro: config.X402_FIRST_CREDIT_MICRO,
    perPaid: config.X402_CREDIT_PER_PAID,
    laterMicro: config.X402_CREDIT_MICRO,
  },
  openLimits: { ofLink: config.OPEN_PHONE_PAYMENTS_OF_LINK, all: config.OPEN_PHONE_PAYMENTS },
});

/** The pause of the operators and the last restore, read once a second under any load. */
const createCachedReads = (pool: Pool, maxAgeMs: number) => {
  const ahead = { maxAgeMs, refreshAheadForMs: maxAgeMs === 0 ? 0 : 60_000 };
  const isPaused = cachedValue(async () => (await getPausedAt(pool)) !== null, ahead);
  const lostSince = cachedValue(() => findLostSince(pool), ahead);
  return { isPaused, lostSince };
};

/** The calls to others. Those about incoming payments name since when records may be lost. */
const callsOf = (
  { checkIncoming, submitIncoming, findLostIncoming, ...others }: Peers,
  lostSince: () => Promise<string | null>,
) => ({
  ...others,
  checkIncoming: async (payment: Parameters<Peers['checkIncoming']>[0]) =>
    checkIncoming({ ...payment, lost_since: await lostSince() }),
  submitIncoming: async (payment: Parameters<Peers['submitIncoming']>[0]) =>
    submitIncoming({ ...payment, lost_since: await lostSince() }),
  findLostIncoming: async (transaction: string): Promise<boolean> => {
    const since = await lostSince();
    return since !== null && (await findLostIncoming({ transaction, since })).paid;
  },
});

/** What a test sets otherwise. */
type Changed = Partial<Timing & { capLimits: HourlyLimits }>;

/**
 * What handlers share: the records, the calls to others, and the parts of this service. No name is
 * in two of them.
 */
const createDeps = (base: ServiceBase, config: Config, peers: Peers, changed: Changed) => {
  const { pool, waiting, quarantine } = base;
  const records = recordsOf(base);
  const settings = termsOf(config);
  const { isPaused, lostSince } = createCachedReads(pool, changed.readMaxAgeMs ?? TIMING.readMaxAgeMs);
  const calls = callsOf(peers, lostSince);
  const capLimits = changed.capLimits ?? hourlyLimits(config);
  const budgets = createBudgets(pool, records.clock);
  const caps = createHourlyCaps(budgets, capLimits);
  const endAuthorization = createEndAuthorization({ ...records, caps });
  const parts = {
    ...settings,
    waiting,
    quarantine,
    isPaused,
    terms: createTermsCache(),
    accepted: createAcceptedEvents(),
    endAuthorization,
    recordLostCapture: createRecordLostCapture({ ...calls, pool, endAuthorization }),
    recordDecline: createRecordDecline(records),
    caps,
    authorizedCaps: createHourlyCaps(budgets, capLimits, 'authorized'),
    group: createIncomingGroupCommit(pool, settings.credit, settings.openLimits),
  };
  const deps = { ...records, ...calls, ...parts };
  const endDue = endDueAuthorizations(deps);
  return {
    ...deps,
    endDue,
    closeIfShort: createCloseIfShort({ ...records, endDue }),
    closeAuthorizations: createCloseAuthorizations({ pool, endDue }),
    applyProgress: onSettleProgressed(deps),
    requestApproval: (request: ApprovalRequest) => requestApproval(deps, request),
  };
};
type Deps = ReturnType<typeof createDeps>;

const operations = (deps: Deps) => ({
  ...settlementOperations(deps),
  ...approvalOperations(deps),
  ...declineOperations(deps),
  ...delegateOperations(deps),
  ...accountLimitOperations(deps),
  ...refundOperations(deps),
  ...receiptOperations(deps),
  ...feeAccountOperations(deps),
  ...incomingPaymentOperations(deps),
  ...outgoingPaymentOperations(deps),
  ...operatorOperations(deps),
});

const startJobs = (deps: Deps, ownedLanes: () => ReadonlySet<number>, timing: Timing) => {
  const { jobsEveryMs, purgeEveryMs } = timing;
  const { pool, logger } = deps;
  return [
    everyMs(jobsEveryMs, 'expireSettlements', expireSettlements(deps), logger),
    everyMs(jobsEveryMs, 'endDueAuthorizations', deps.endDue, logger),
    everyMs(jobsEveryMs, 'watchAuthorizations', watchAuthorizations({ ...deps, ownedLanes }), logger),
    everyMs(jobsEveryMs, 'checkRecords', checkRecords(deps), logger),
    everyMs(jobsEveryMs, 'publishAccepted', publishAccepted(deps), logger),
    everyMs(jobsEveryMs, 'resumeSettlements', resumeSettlements(deps), logger),
    everyMs(jobsEveryMs, 'resumeIncoming', resumeIncoming(deps), logger),
    everyMs(jobsEveryMs, 'resumeOutgoing', resumeOutgoing(deps), logger),
    everyMs(purgeEveryMs, 'deleteOldSpending', () => deleteOldSpending(pool), logger),
    everyMs(purgeEveryMs, 'purgeOldDeclines', purgeOldDeclines({ pool }), logger),
    everyMs(purgeEveryMs, 'purgeOldUses', purgeOldUses(deps), logger),
  ];
};

/**
 * Starts the settlement service.
 * @returns also what its handlers are made of, with which a test makes those of another replica
 */
export const createService = (
  base: ServiceBase,
  config: Config,
  peers: Peers,
  changed: Changed = {},
): Service & { deps: Deps } => {
  const { bus, pool, quarantine } = base;
  const deps = createDeps(base, config, peers, changed);
  const lanes = startLanes(base);
  let owned: ReadonlySet<number> = new Set();
  lanes.onChange((changedTo) => {
    owned = changedTo;
  });
  const outcomes = {
    schema: chainSubmitter.events.settleProgressed,
    handle: (progress: Progress) => deps.applyProgress(progress),
  };
  const own = { service: 'settlement', name: 'settleProgressed', receiver: bus.replicaId } as const;
  const consuming = [
    subscribe(bus, chainSubmitter, { settleProgressed: deps.applyProgress }, quarantine),
    subscribe(bus, wallet, { delegationChanged: onDelegationChanged(deps) }, quarantine),
    subscribe(bus, identity, { accountErased: accountErased(deps) }, quarantine),
    subscribe(bus, identity, { accountFrozen: accountFrozen(deps) }, quarantine),
    subscribe(bus, identity, { sessionRevoked: sessionRevoked(deps) }, quarantine),
    subscribe(bus, identity, { delegateChanged: delegateChanged(deps) }, quarantine),
  ];
  const operating = operatorHandlers({
    pool,
    consuming,
    resolver: quarantineResolver(deps),
    findRecords: findPaymentRecords(pool),
    listAccountRecords: listPaymentRecords(pool),
    listWaiting: listWaitingPayments(pool),
  });
  return {
    deps,
    serving: serve(
      bus,
      settlement,
      { ...operations(deps), listSentEvents: listSentEvents(pool), ...operating },
      { lanes },
    ),
    consuming,
    lanes: [lanes],
    // Calls that are still answered wait for their outcomes.
    jobs: [
      ...startJobs(deps, () => owned, { ...TIMING, ...changed }),
      acceptHandedOver(bus, own, 'chain-submitter', outcomes),
    ],
    gauges: [
      collectAttempts(pool),
      collectIntake(pool),
      collectCaps(pool, deps.caps.limits),
      collectBackups(pool),
      lanes.gauges,
    ],
  };
};
