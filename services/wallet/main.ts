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
import { delegationProgressed } from './consumers/chain-submitter.delegationProgressed.ts';
import { tokenAccountProgressed } from './consumers/chain-submitter.tokenAccountProgressed.ts';
import { moved } from './consumers/funding.moved.ts';
import { finalized } from './consumers/settlement.finalized.ts';
import { issued } from './consumers/settlement.issued.ts';
import { reversed } from './consumers/settlement.reversed.ts';
import type { Deps } from './deps.ts';
import { backup } from './handlers/backup.ts';
import { countAuthorities } from './handlers/countAuthorities.ts';
import { delegate } from './handlers/delegate.ts';
import { find } from './handlers/find.ts';
import { link } from './handlers/link.ts';
import { list } from './handlers/list.ts';
import { listTransactions } from './handlers/listTransactions.ts';
import { onboarding } from './handlers/onboarding.ts';
import { provision } from './handlers/provision.ts';
import { replaceBackup } from './handlers/replaceBackup.ts';
import { revoke } from './handlers/revoke.ts';
import { setDefault } from './handlers/setDefault.ts';
import { spendingSummary } from './handlers/spendingSummary.ts';
import { askSettlement } from './jobs/askSettlement.ts';
import { driveTokenAccounts } from './jobs/driveTokenAccounts.ts';
import { watchWallets } from './jobs/watchWallets.ts';
import { takeMovements } from './movements.ts';

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
  sumSpentSince: (wallets) =>
    call(bus, settlement, 'sumSpentSince', { wallets }, { timeoutMs: ASK_TIMEOUT_MS }),
  describeWallet: (public_key) => call(bus, chainSubmitter, 'describeWallet', { public_key }),
  prepareDelegation: (input) => call(bus, chainSubmitter, 'prepareDelegation', input),
  submitPrepared: (input) =>
    call(bus, chainSubmitter, 'submitPrepared', input, { timeoutMs: SUBMIT_TIMEOUT_MS }),
  listPaidByIds: (settlement_ids) => call(bus, settlement, 'listPaidByIds', { settlement_ids }),
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
      setDefault: setDefault(deps),
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
