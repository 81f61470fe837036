import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, identity, settlement, wallet } from '../../shared/contract/index.ts';
import { createBudgets, deleteOldSpending } from '../../shared/db/budget.ts';
import { createHourlyCaps, hourlyLimits } from '../../shared/db/hourly-caps.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { cached } from '../../shared/lib/cached.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { createAccepted } from './accepted.ts';
import { config as schema } from './config.ts';
import { settleProgressed } from './consumers/chain-submitter.settleProgressed.ts';
import { delegationChanged } from './consumers/wallet.delegationChanged.ts';
import type { Deps } from './deps.ts';
import { handlers } from './handlers.ts';
import { expireSettlements } from './jobs/expireSettlements.ts';
import { resumeSettlements } from './jobs/resumeSettlements.ts';
import { attemptsReading, capsReading, intakeReading } from './readings.ts';
import { quarantineResolver } from './resolve-quarantine.ts';
import { pausedSince } from './store/settling.ts';

/** Every provider is asked, some of it twice. */
const PROOF_TIMEOUT_MS = 15_000;

const config = loadConfig(schema);
const base = await openBase('settlement', config);
const { bus, pool, clock, relay, waiting, quarantine, logger } = base;

// A changed default wallet acts within this time; the addresses of a wallet never change.
const findDefault = cached((account_id) => call(bus, wallet, 'find', { account_id }), {
  maxAgeMs: 1000,
  isCacheable: (found) => found !== null,
});
// Many refused settles of one wallet look at the chain once.
const observeWallet = cached((owner) => call(bus, chainSubmitter, 'observeWallet', { owner }), {
  maxAgeMs: 100,
});
// Asked once a second at most, whatever the load, and while settles come at all ahead of them.
const everybodys = { maxAgeMs: 1000, refreshAheadForMs: 60_000 };
const observeChain = cached(
  () => call(bus, chainSubmitter, 'observeChain', {}, { timeoutMs: 2000 }),
  everybodys,
);

// The operators' words act within this time ("at once" is 2 s in docs/spec/decisions.md), at no
// cost to a settle.
const readPaused = cached(async () => (await pausedSince(pool)) !== null, everybodys);
const readFrozen = cached((account_id) => call(bus, identity, 'isFrozen', { account_id }), {
  maxAgeMs: 1000,
});

const limits = hourlyLimits(config);
const HOUR_MS = 3_600_000;

const deps: Deps = {
  pool,
  logger,
  clock: clock.now,
  environment: config.ENVIRONMENT,
  publicKeys: config.PUBLIC_KEYS,
  signingKey: config.SIGNING_KEYS[0]!,
  mint: config.USDC_MINT,
  feeWallet: config.FEE_WALLET,
  cursorKey: config.CURSOR_KEY,
  settleWaitMs: config.SETTLE_WAIT_MS,
  relay,
  waiting,
  accepted: createAccepted(),
  caps: createHourlyCaps(createBudgets(pool, clock.now), limits),
  quarantine,
  findWallet: (account_id, wallet_id) =>
    wallet_id === null ? findDefault(account_id) : call(bus, wallet, 'find', { account_id, wallet_id }),
  // A chain-submitter that does not answer says nothing about the chain: its queue waits for it.
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
};

const consuming = [
  subscribe(bus, chainSubmitter, { settleProgressed: settleProgressed(deps) }, quarantine),
  subscribe(bus, wallet, { delegationChanged: delegationChanged(deps) }, quarantine),
];
const operating = operatorHandlers({ pool, consuming, resolver: quarantineResolver(deps) });

await runService(base, {
  serving: serve(bus, settlement, { ...handlers(deps), ...operating }),
  consuming,
  jobs: [
    everyMs(1000, 'expireSettlements', expireSettlements(deps), logger),
    everyMs(1000, 'resumeSettlements', resumeSettlements(deps), logger),
    everyMs(HOUR_MS, 'deleteOldSpending', () => deleteOldSpending(pool), logger),
  ],
  readings: [attemptsReading(pool), intakeReading(pool), capsReading(pool, limits)],
});
