import { randomUUID } from 'node:crypto';
import { openBase, runService } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter } from '../../shared/contract/index.ts';
import { createBudgets } from '../../shared/db/budget.ts';
import { hourlyLimits } from '../../shared/db/hourly-caps.ts';
import { acceptJobs } from '../../shared/events/consume.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { tokenAccountOf } from './addresses.ts';
import { createCaps } from './caps.ts';
import { createChainView } from './chain.ts';
import { createCommits } from './commits.ts';
import { limitsOf, config as schema } from './config.ts';
import type { Deps } from './deps.ts';
import type { Network } from './domain/order.ts';
import { createDriver } from './drive.ts';
import { startEngine } from './engine.ts';
import { createFlights } from './flights.ts';
import { cancelPrepared } from './handlers/cancelPrepared.ts';
import { checkPayoutAddress } from './handlers/checkPayoutAddress.ts';
import { describeWallet } from './handlers/describeWallet.ts';
import { findPayment } from './handlers/findPayment.ts';
import { getAttemptReport } from './handlers/getAttemptReport.ts';
import { getCaps } from './handlers/getCaps.ts';
import { getCosigningLimits } from './handlers/getCosigningLimits.ts';
import { getSigning } from './handlers/getSigning.ts';
import { observeChain } from './handlers/observeChain.ts';
import { observePrepared } from './handlers/observePrepared.ts';
import { observeTransfers } from './handlers/observeTransfers.ts';
import { observeWallet } from './handlers/observeWallet.ts';
import { observeWallets } from './handlers/observeWallets.ts';
import { prepareDelegation } from './handlers/prepareDelegation.ts';
import { prepareTransfer } from './handlers/prepareTransfer.ts';
import { reserveTokenAccount } from './handlers/reserveTokenAccount.ts';
import { setCosigningFactor } from './handlers/setCosigningFactor.ts';
import { setSigningPaused } from './handlers/setSigningPaused.ts';
import { submitPrepared } from './handlers/submitPrepared.ts';
import { createTokenAccount } from './jobs/createTokenAccount.ts';
import { fund } from './jobs/fund.ts';
import { settle } from './jobs/settle.ts';
import { createCosigning } from './limits/cosigning.ts';
import { createOwnWork } from './limits/own-work.ts';
import { checkNetwork } from './network.ts';
import { budgetsReading, capsReading, feePayerReading, intentsReading } from './readings.ts';
import { quarantineResolver } from './resolve-quarantine.ts';
import { createRpc, lamportsReader } from './rpc.ts';

const config = loadConfig(schema);
const base = await openBase('chain-submitter', config);
const { bus, pool, clock, relay, logger, quarantine } = base;

const signers = {
  feePayers: config.FEE_PAYER_KEYS.map(({ signer }) => signer),
  delegateAuthorities: config.DELEGATE_AUTHORITY_KEYS.map(({ signer }) => signer),
  fundingAuthority: config.FUNDING_AUTHORITY_KEY ?? null,
};
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
const rpc = createRpc(config.SOLANA_RPC_URLS);
try {
  await checkNetwork(rpc, { genesisHash: config.GENESIS_HASH, network, logger });
} catch (error) {
  logger.fatal({ err: error }, 'the chain is not the configured one');
  process.exit(78); // EX_CONFIG of sysexits.h
}

const caps = {
  ...hourlyLimits(config),
};
const lamportsOf = lamportsReader(config.SOLANA_RPC_URLS);

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
  chain: createChainView(rpc, network.mint),
  signers,
  caps: createCaps(pool, clock.now, caps),
  limits,
  ownWork: createOwnWork({ ...limited, budgets: createBudgets(pool, clock.now) }),
  cosigning: createCosigning(limited),
  commits: createCommits(pool, workerId),
  flights: createFlights(),
};
const deps: Deps = { ...parts, driver: createDriver(parts) };
const signing = {
  pool,
  network,
  lamportsOf,
  numbers: new Map(
    [...config.FEE_PAYER_KEYS, ...config.DELEGATE_AUTHORITY_KEYS].map(({ number, signer }) => [
      signer.publicKey,
      number,
    ]),
  ),
};
const engine = await startEngine(deps, { pollMs: config.POLL_MS });

const consuming = [
  acceptJobs(
    bus,
    chainSubmitter,
    { settle: settle(deps), fund: fund(deps), createTokenAccount: createTokenAccount(deps) },
    quarantine,
  ),
];
const operating = operatorHandlers({ pool, consuming, resolver: quarantineResolver(deps) });

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
    ...operating,
  }),
  consuming,
  jobs: [engine],
  readings: [
    intentsReading(pool),
    capsReading(pool, caps),
    budgetsReading(pool, limits),
    feePayerReading(() => lamportsOf(network.feePayer)),
  ],
});
