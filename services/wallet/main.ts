import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, funding, settlement, wallet } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { config as schema } from './config.ts';
import { delegate } from './delegations/delegate.ts';
import { delegationProgressed } from './delegations/on-chain-submitter-delegation-progressed.ts';
import { onboarding } from './delegations/onboarding.ts';
import { revoke } from './delegations/revoke.ts';
import type { Deps } from './deps.ts';
import { watchWallets } from './snapshots/watch-wallets.ts';
import { listTransactions } from './transactions/list-transactions.ts';
import { takeMovements } from './transactions/movements.ts';
import { moved } from './transactions/on-funding-moved.ts';
import { issued } from './transactions/on-settlement.ts';
import { finalized } from './transactions/on-settlement-finalized.ts';
import { reversed } from './transactions/on-settlement-reversed.ts';
import { askSettlement } from './transactions/refetch-payments.ts';
import { spendingSummary } from './transactions/spending-summary.ts';
import { backup } from './wallets/backup.ts';
import { chooseDefault } from './wallets/choose-default.ts';
import { countAuthorities } from './wallets/count-authorities.ts';
import { find } from './wallets/find.ts';
import { link } from './wallets/link.ts';
import { list } from './wallets/list.ts';
import { tokenAccountProgressed } from './wallets/on-chain-submitter-token-account-progressed.ts';
import { provision } from './wallets/provision.ts';
import { driveTokenAccounts } from './wallets/redispatch-token-accounts.ts';
import { replaceBackup } from './wallets/replace-backup.ts';

/** Checking, simulating, committing and co-signing takes longer than a look-up. */
const SUBMIT_TIMEOUT_MS = 10_000;
/** Together less than the gateway waits: a chain that hangs must leave time to answer what was seen before. */
const LOOK_TIMEOUT_MS = 3000;
const ASK_TIMEOUT_MS = 1000;
const DRIVE_EVERY_MS = 2000;
const ASK_EVERY_MS = 30_000;
/** How often the watcher asks its table who is due, at most. */
const WATCH_PAUSE_MS = 500;
/** Lists may be a moment behind: events of a moment share a statement. */
const BATCH_WINDOW_MS = 250;

const config = loadConfig(schema);
const base = await openBase('wallet', config);
const { bus, pool, clock, relay, waiting, logger, quarantine } = base;

const deps: Deps = {
  pool,
  clock: clock.now,
  cursorKey: config.CURSOR_KEY,
  relay,
  waiting,
  chainWaitMs: config.CHAIN_WAIT_MS,
  watchEveryMs: config.WATCH_EVERY_MS,
  observeWallets: (owners) =>
    call(bus, chainSubmitter, 'observeWallets', { owners: [...owners] }, { timeoutMs: LOOK_TIMEOUT_MS }),
  spentSince: (wallets) => call(bus, settlement, 'spentSince', { wallets }, { timeoutMs: ASK_TIMEOUT_MS }),
  describeWallet: (public_key) => call(bus, chainSubmitter, 'describeWallet', { public_key }),
  prepareDelegation: (input) => call(bus, chainSubmitter, 'prepareDelegation', input),
  submitPrepared: (input) =>
    call(bus, chainSubmitter, 'submitPrepared', input, { timeoutMs: SUBMIT_TIMEOUT_MS }),
  findPaid: (settlement_ids) => call(bus, settlement, 'findPaid', { settlement_ids }),
};

const batching = { quarantine, batchWindowMs: BATCH_WINDOW_MS };
const consuming = [
  subscribe(
    bus,
    chainSubmitter,
    {
      delegationProgressed: delegationProgressed(deps),
      tokenAccountProgressed: tokenAccountProgressed(deps),
    },
    quarantine,
  ),
  subscribeInBatches(bus, settlement, { issued, finalized, reversed }, takeMovements(deps), batching),
  subscribeInBatches(bus, funding, { moved }, takeMovements(deps), batching),
];
const operating = operatorHandlers({ pool, consuming });

await runService(base, {
  serving: serve(
    bus,
    wallet,
    {
      link: link(deps),
      provision: provision(deps),
      list: list(deps),
      backup: backup(deps),
      replaceBackup: replaceBackup(deps),
      onboarding: onboarding(deps),
      delegate: delegate(deps),
      revoke: revoke(deps),
      listTransactions: listTransactions(deps),
      spendingSummary: spendingSummary(deps),
      find: find(deps),
      chooseDefault: chooseDefault(deps),
      countAuthorities: countAuthorities(deps),
      ...operating,
    },
    { now: clock.now },
  ),
  consuming,
  jobs: [
    everyMs(DRIVE_EVERY_MS, 'driveTokenAccounts', driveTokenAccounts(deps), logger),
    everyMs(ASK_EVERY_MS, 'askSettlement', askSettlement(deps), logger),
    everyMs(Math.min(WATCH_PAUSE_MS, config.WATCH_EVERY_MS), 'watchWallets', watchWallets(deps), logger),
  ],
});
