import { randomUUID } from 'node:crypto';
import { openBase, runService } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter } from '../../shared/contract/index.ts';
import { createBudgets, deleteOldSpending } from '../../shared/db/budget.ts';
import { hourlyLimits } from '../../shared/db/hourly-caps.ts';
import { acceptJobs } from '../../shared/events/consume.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { expireInFlight } from './broadcast/expiry.ts';
import { createInFlightTransactions } from './broadcast/in-flight.ts';
import { startPoller } from './broadcast/poller.ts';
import { rebroadcast } from './broadcast/rebroadcast.ts';
import { tokenAccountOf } from './chain/addresses.ts';
import { createBlockhashes } from './chain/blockhashes.ts';
import { createPriorityFees } from './chain/priority-fees.ts';
import { createLamportsReader, openRpcPool } from './chain/rpc-pool.ts';
import { createTokenAccounts } from './chain/token-accounts.ts';
import { limitsOf, config as schema } from './config.ts';
import { createTokenAccount } from './execution/create-token-account.ts';
import { createExecutor } from './execution/executor.ts';
import { fund } from './execution/fund.ts';
import { settle } from './execution/settle.ts';
import { SWEEP_EVERY_MS, sweep } from './execution/sweep.ts';
import { startWorker } from './execution/worker.ts';
import { checkIncoming } from './incoming/check-incoming.ts';
import { closeIncoming } from './incoming/close-incoming.ts';
import { createPayoutAccount } from './incoming/create-payout-account.ts';
import { findLostIncoming } from './incoming/find-lost-incoming.ts';
import { getFeePayers } from './incoming/get-fee-payers.ts';
import { createIncomingCommit } from './incoming/group-commit.ts';
import { createSimulations } from './incoming/simulations.ts';
import { submitIncoming } from './incoming/submit-incoming.ts';
import { createGroupCommit } from './ledger/group-commit.ts';
import { createHints } from './ledger/hints.ts';
import type { Network } from './ledger/model/network.ts';
import { releaseLapsedReservations } from './ledger/store/grants.ts';
import { createCosigning } from './limits/cosigning.ts';
import { getCaps } from './limits/get-caps.ts';
import { getCosigningLimits } from './limits/get-cosigning-limits.ts';
import { createIncomingCaps } from './limits/incoming-caps.ts';
import { createOwnBudgets } from './limits/own-budgets.ts';
import { reserveTokenAccount } from './limits/reserve-token-account.ts';
import { setCosigningFactor } from './limits/set-cosigning-factor.ts';
import { createCaps } from './limits/spending-caps.ts';
import { collectBudgets, collectCaps, collectFeePayer, collectIntents } from './operator/gauges.ts';
import { getAttemptReport } from './operator/get-attempt-report.ts';
import { getSigning } from './operator/get-signing.ts';
import { quarantineResolver } from './operator/quarantine.ts';
import { findWorkRecords } from './operator/records.ts';
import { setSigningPaused } from './operator/set-signing-paused.ts';
import { closeOutgoing } from './outgoing/close-outgoing.ts';
import { findLostOutgoing } from './outgoing/find-lost-outgoing.ts';
import { observeOutgoing } from './outgoing/observe-outgoing.ts';
import { signOutgoing } from './outgoing/sign-outgoing.ts';
import { findPayment } from './reads/find-payment.ts';
import { observeChain } from './reads/observe-chain.ts';
import { observeTransfers } from './reads/observe-transfers.ts';
import { observeWallet } from './reads/observe-wallet.ts';
import { observeWallets } from './reads/observe-wallets.ts';
import { verifyNetwork } from './reads/verify-network.ts';
import { openSigners } from './signing/open-signers.ts';
import { cancelPrepared } from './user-signed/cancel-prepared.ts';
import { checkPayoutAddress } from './user-signed/check-payout-address.ts';
import { describeWallet } from './user-signed/describe-wallet.ts';
import { observePrepared } from './user-signed/observe-prepared.ts';
import { prepareDelegation } from './user-signed/prepare-delegation.ts';
import { prepareTransfer } from './user-signed/prepare-transfer.ts';
import { submitPrepared } from './user-signed/submit-prepared.ts';

const SECOND_MS = 1000;
const REBROADCAST_MS = 250;
const HOUR_MS = 3_600_000;

const config = loadConfig(schema);
const base = await openBase('chain-submitter', config);
const { bus, pool, clock, relay, logger, quarantine } = base;

/** Ends the process with a fault that an operator must correct. */
const refuseToStart = (error: unknown, message: string): never => {
  logger.fatal({ err: error }, message);
  process.exit(78); // EX_CONFIG of sysexits.h
};

const { numbers, ...signers } = await openSigners(config, logger).catch((error: unknown) =>
  refuseToStart(error, 'a configured key cannot be used'),
);
const feePayers = signers.feePayers.map(({ publicKey }) => publicKey);
const network: Network = {
  mint: config.USDC_MINT,
  feePayer: feePayers[0]!,
  feePayers,
  delegateAuthorities: signers.delegateAuthorities.map(({ publicKey }) => publicKey),
  fundingAuthority: signers.fundingAuthority?.publicKey ?? null,
  feeWallet: config.FEE_WALLET,
  feeAccount: tokenAccountOf(config.FEE_WALLET, config.USDC_MINT),
  computeBudget: config.COMPUTE_BUDGET ?? null,
};
const rpc = openRpcPool(config.SOLANA_RPC_URLS);
try {
  await verifyNetwork(rpc, { genesisHash: config.GENESIS_HASH, network, logger });
} catch (error) {
  refuseToStart(error, 'chain differs from the configuration');
}

const caps = { ...hourlyLimits(config), incomingMicro: config.INCOMING_HOURLY_CAP_MICRO };
const lamportsOf = createLamportsReader(config.SOLANA_RPC_URLS);

const limits = limitsOf(config);
const limited = { pool, clock: clock.now, network, limits };
const workerId = randomUUID();
const parts = {
  pool,
  relay,
  clock: clock.now,
  logger,
  workerId,
  environment: config.ENVIRONMENT,
  network,
  keys: config.PUBLIC_KEYS,
  rpc,
  tokenAccounts: createTokenAccounts(rpc, network.mint),
  blockhashes: createBlockhashes(rpc),
  priorityFees: createPriorityFees({ rpc, network, logger }),
  signers,
  caps: createCaps(pool, clock.now, caps),
  incomingCaps: createIncomingCaps(pool, clock.now, caps),
  limits,
  ownBudgets: createOwnBudgets({ ...limited, budgets: createBudgets(pool, clock.now) }),
  cosigning: createCosigning(limited),
  groupCommit: createGroupCommit(pool, workerId),
  simulations: createSimulations({ rpc, logger }),
  incomingCommit: createIncomingCommit(pool, limits, workerId),
  inFlight: createInFlightTransactions(),
  hints: createHints(),
};
const deps = { ...parts, executor: createExecutor(parts) };
const signing = { pool, network, lamportsOf, numbers };
const worker = await startWorker(deps, () => ({
  jobs: [
    everyMs(SWEEP_EVERY_MS, 'sweep', (nextWithinMs) => sweep(deps, nextWithinMs), logger),
    everyMs(REBROADCAST_MS, 'rebroadcast', () => rebroadcast(deps), logger),
    everyMs(SECOND_MS, 'release-lapsed-reservations', () => releaseLapsedReservations(pool), logger),
    everyMs(SECOND_MS, 'expire', () => expireInFlight(deps), logger),
    everyMs(HOUR_MS, 'delete-old-spending', () => deleteOldSpending(pool), logger),
  ],
  poller: startPoller(deps, config.POLL_MS),
}));

const consuming = [
  acceptJobs(
    bus,
    chainSubmitter,
    { settle: settle(deps), fund: fund(deps), createTokenAccount: createTokenAccount(deps) },
    quarantine,
  ),
];
const operating = operatorHandlers({
  pool,
  consuming,
  resolver: quarantineResolver(deps),
  findRecords: findWorkRecords(deps),
});

await runService(base, {
  serving: serve(bus, chainSubmitter, {
    getCaps: getCaps(deps, caps),
    getSigning: getSigning(signing),
    setSigningPaused: setSigningPaused(signing),
    getCosigningLimits: getCosigningLimits(deps),
    setCosigningFactor: setCosigningFactor(deps),
    observeChain: observeChain(deps),
    findPayment: findPayment(deps),
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
    createPayoutAccount: createPayoutAccount(deps),
    checkIncoming: checkIncoming(deps),
    submitIncoming: submitIncoming(deps),
    closeIncoming: closeIncoming(deps),
    findLostIncoming: findLostIncoming(deps),
    signOutgoing: signOutgoing(deps),
    closeOutgoing: closeOutgoing(deps),
    observeOutgoing: observeOutgoing(deps),
    findLostOutgoing: findLostOutgoing(deps),
    ...operating,
  }),
  consuming,
  jobs: [worker],
  gauges: [
    collectIntents(pool),
    collectCaps(pool, caps),
    collectBudgets(pool, limits),
    collectFeePayer(() => lamportsOf(network.feePayer)),
  ],
});
