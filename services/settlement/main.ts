import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, funding, identity, quote, settlement, wallet } from '../../shared/contract/index.ts';
import { createBudgets, deleteOldSpending } from '../../shared/db/budget.ts';
import { createHourlyCaps, hourlyLimits } from '../../shared/db/hourly-caps.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { cached } from '../../shared/lib/cached.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { feeRuleOf } from '../../shared/lib/fee.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { accountLimitOperations } from './account-limits/operations.ts';
import { accountErased } from './accounts/on-identity-account-erased.ts';
import { approvalOperations } from './approvals/operations.ts';
import { requestApproval } from './approvals/request-approval.ts';
import { config as schema } from './config.ts';
import { declineOperations } from './declines/operations.ts';
import { purgeOldDeclines } from './declines/purge.ts';
import { createRecordDecline } from './declines/record-decline.ts';
import { delegateOperations } from './delegates/operations.ts';
import { feeAccountOperations } from './fee-accounts/operations.ts';
import { createIncomingGroupCommit } from './incoming/group-commit.ts';
import { incomingPaymentOperations } from './incoming/operations.ts';
import { resumeIncoming } from './incoming/resume-incoming.ts';
import { collectAttempts, collectCaps, collectIntake } from './operator/gauges.ts';
import { operatorOperations } from './operator/operations.ts';
import { quarantineResolver } from './operator/quarantine-resolver.ts';
import { findPaymentRecords } from './operator/records.ts';
import { getPausedAt } from './operator/store.ts';
import { outgoingPaymentOperations } from './outgoing/operations.ts';
import { resumeOutgoing } from './outgoing/resume-outgoing.ts';
import { onDelegationChanged } from './payers/on-wallet-delegation-changed.ts';
import { receiptOperations } from './receipts/operations.ts';
import { refundOperations } from './refunds/operations.ts';
import { expireSettlements } from './settlements/expire-settlements.ts';
import { onSettleProgressed } from './settlements/on-chain-submitter-settle-progressed.ts';
import { settlementOperations } from './settlements/operations.ts';
import { resumeSettlements } from './settlements/resume-settlements.ts';
import { findLostSince } from './settlements/store/restores.ts';
import { createTermsCache } from './settlements/terms-cache.ts';

/** The proof queries every provider, and repeats some queries. */
const PROOF_TIMEOUT_MS = 15_000;
/** Less than the gateway waits for a receipt. */
const REFUNDS_TIMEOUT_MS = 3000;
const HOUR_MS = 3_600_000;

type Deps = Parameters<typeof settlementOperations>[0] &
  Parameters<typeof receiptOperations>[0] &
  Omit<Parameters<typeof operatorOperations>[0], 'applyProgress'> &
  Parameters<typeof onSettleProgressed>[0] &
  Parameters<typeof quarantineResolver>[0] &
  Omit<Parameters<typeof incomingPaymentOperations>[0], 'applyProgress'> &
  Omit<Parameters<typeof outgoingPaymentOperations>[0], 'applyProgress' | 'requestApproval'>;

const config = loadConfig(schema);
const base = await openBase('settlement', config);
const { bus, pool, clock, relay, waiting, quarantine, logger } = base;

// A changed default wallet takes effect within this time. The addresses of a wallet never change.
const findDefault = cached((account_id) => call(bus, wallet, 'find', { account_id }), {
  maxAgeMs: 1000,
  isCacheable: (found) => found !== null,
});
// Many refused settles of one wallet share one read of the chain.
const observeWallet = cached((owner) => call(bus, chainSubmitter, 'observeWallet', { owner }), {
  maxAgeMs: 100,
});
// Read at most once a second under any load, and refreshed in advance while settles come in.
const onceASecond = { maxAgeMs: 1000, refreshAheadForMs: 60_000 };
const observeChain = cached(
  () => call(bus, chainSubmitter, 'observeChain', {}, { timeoutMs: 2000 }),
  onceASecond,
);
// An operator's change takes effect within this time (the limit of docs/spec/decisions.md is 2 s),
// and costs a settle nothing.
const readPaused = cached(async () => (await getPausedAt(pool)) !== null, onceASecond);
const readFrozen = cached((account_id) => call(bus, identity, 'isFrozen', { account_id }), {
  maxAgeMs: 1000,
});

// A vendor's changed payout address takes effect within this time.
const findService = cached((service_id) => call(bus, identity, 'findService', { service_id }), {
  maxAgeMs: 1000,
});
// Called whenever a vendor reads the terms. Only an existing account is remembered for long.
const createPayoutAccount = cached(
  (key) => {
    const [account_id, owner] = key.split('/') as [string, string];
    return call(bus, chainSubmitter, 'createPayoutAccount', { account_id, owner });
  },
  { maxAgeMs: 600_000, isCacheable: ({ exists }) => exists },
);
const readFeePayers = cached(() => call(bus, chainSubmitter, 'getFeePayers', {}), {
  maxAgeMs: 60_000,
});

const readLostSince = cached(() => findLostSince(pool), onceASecond);

const limits = hourlyLimits(config);
const credit = {
  firstMicro: config.X402_FIRST_CREDIT_MICRO,
  perPaid: config.X402_CREDIT_PER_PAID,
  laterMicro: config.X402_CREDIT_MICRO,
};

const deps: Deps = {
  pool,
  logger,
  clock: clock.now,
  environment: config.ENVIRONMENT,
  publicKeys: config.PUBLIC_KEYS,
  signingKey: config.SIGNING_KEYS[0]!,
  mint: config.USDC_MINT,
  feeWallet: config.FEE_WALLET,
  cursorKeys: config.CURSOR_KEY,
  settleWaitMs: config.SETTLE_WAIT_MS,
  relay,
  waiting,
  terms: createTermsCache(),
  recordDecline: createRecordDecline({ pool, relay, clock: clock.now, logger }),
  caps: createHourlyCaps(createBudgets(pool, clock.now), limits),
  quarantine,
  findWallet: (account_id, wallet_id) =>
    wallet_id === null ? findDefault(account_id) : call(bus, wallet, 'find', { account_id, wallet_id }),
  // If chain-submitter does not answer, the chain's state is unknown. The job waits in its queue.
  isChainReadable: () =>
    observeChain('chain').then(
      ({ readable }) => readable,
      () => true,
    ),
  budgetRefillsInSeconds: () =>
    observeChain('chain').then(
      ({ budget_refills_in_seconds }) => budget_refills_in_seconds,
      () => null,
    ),
  observeWallet,
  isPaused: () => readPaused('intake'),
  isFrozen: async (accountId) => (await readFrozen(accountId)).frozen,
  getAttemptReport: (attempt) =>
    call(bus, chainSubmitter, 'getAttemptReport', attempt, { timeoutMs: PROOF_TIMEOUT_MS }),
  findPayment: (quote) => call(bus, chainSubmitter, 'findPayment', quote, { timeoutMs: PROOF_TIMEOUT_MS }),
  listConfirmedRefunds: (settled) =>
    call(bus, funding, 'listConfirmedRefunds', settled, { timeoutMs: REFUNDS_TIMEOUT_MS }),
  receiptIssuer: {
    iss: config.PUBLIC_URL,
    env: config.ENVIRONMENT,
    network: config.X402_NETWORK,
    mint: config.USDC_MINT,
  },
  x402Network: config.X402_NETWORK,
  fee: feeRuleOf(config),
  accruedFee: {
    bps: config.X402_FEE_BPS,
    minMicro: config.X402_FEE_MIN_MICRO,
    solPriceMicro: config.SOL_PRICE_MICRO,
  },
  credit,
  group: createIncomingGroupCommit(pool, credit),
  findService,
  createPayoutAccount: ({ account_id, owner }) => createPayoutAccount(`${account_id}/${owner}`),
  getFeePayers: async () => (await readFeePayers('feePayers')).fee_payers,
  checkIncoming: async (payment) =>
    call(bus, chainSubmitter, 'checkIncoming', { ...payment, lost_since: await readLostSince('since') }),
  submitIncoming: async (payment) =>
    call(bus, chainSubmitter, 'submitIncoming', { ...payment, lost_since: await readLostSince('since') }),
  findLostIncoming: async (transaction) => {
    const since = await readLostSince('since');
    if (since === null) return false;
    const input = { transaction, since };
    return (await call(bus, chainSubmitter, 'findLostIncoming', input)).paid;
  },
  signOutgoing: (payment) =>
    call(bus, chainSubmitter, 'signOutgoing', payment, payment.lost ? { timeoutMs: PROOF_TIMEOUT_MS } : {}),
  closeOutgoing: (payment) => call(bus, chainSubmitter, 'closeOutgoing', payment),
  observeOutgoing: (payment) => call(bus, chainSubmitter, 'observeOutgoing', payment),
  findLostOutgoing: (attempt) =>
    call(bus, chainSubmitter, 'findLostOutgoing', attempt, { timeoutMs: PROOF_TIMEOUT_MS }),
};
const applyProgress = onSettleProgressed(deps);

const consuming = [
  subscribe(bus, chainSubmitter, { settleProgressed: applyProgress }, quarantine),
  subscribe(bus, wallet, { delegationChanged: onDelegationChanged(deps) }, quarantine),
  subscribe(bus, identity, { accountErased: accountErased(deps) }, quarantine),
];

await runService(base, {
  serving: serve(bus, settlement, {
    ...settlementOperations(deps),
    ...approvalOperations(deps),
    ...declineOperations(deps),
    ...delegateOperations(deps),
    ...accountLimitOperations(deps),
    ...refundOperations(deps),
    ...receiptOperations(deps),
    ...feeAccountOperations({
      ...deps,
      quoteFees: (fees) => call(bus, quote, 'createFeeQuote', fees),
    }),
    ...incomingPaymentOperations({ ...deps, applyProgress }),
    ...outgoingPaymentOperations({
      ...deps,
      applyProgress,
      requestApproval: (request) => requestApproval(deps, request),
    }),
    ...operatorOperations({ ...deps, applyProgress }),
    ...operatorHandlers({
      pool,
      consuming,
      resolver: quarantineResolver(deps),
      findRecords: findPaymentRecords(pool),
    }),
  }),
  consuming,
  jobs: [
    everyMs(1000, 'expireSettlements', expireSettlements(deps), logger),
    everyMs(1000, 'resumeSettlements', resumeSettlements(deps), logger),
    everyMs(
      1000,
      'resumeIncoming',
      resumeIncoming({
        ...deps,
        applyProgress,
        closeIncoming: (payment) => call(bus, chainSubmitter, 'closeIncoming', payment),
      }),
      logger,
    ),
    everyMs(1000, 'resumeOutgoing', resumeOutgoing({ ...deps, applyProgress }), logger),
    everyMs(HOUR_MS, 'deleteOldSpending', () => deleteOldSpending(pool), logger),
    everyMs(HOUR_MS, 'purgeOldDeclines', purgeOldDeclines({ pool }), logger),
  ],
  gauges: [collectAttempts(pool), collectIntake(pool), collectCaps(pool, limits)],
});
