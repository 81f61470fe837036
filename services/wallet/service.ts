import { type Records, recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, funding, identity, settlement, wallet } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { withInspection } from '../../shared/operator/inspections.ts';
import { getAccountActivity } from './accounts/get-account-activity.ts';
import { accountClosed, accountErased } from './accounts/on-identity.ts';
import type { Config } from './config.ts';
import { delegate } from './delegations/delegate.ts';
import { delegationProgressed } from './delegations/on-chain-submitter-delegation-progressed.ts';
import { onboarding } from './delegations/onboarding.ts';
import { revoke } from './delegations/revoke.ts';
import { listWalletRecords } from './operator/records.ts';
import type { Peers } from './peers.ts';
import type { Terms } from './terms.ts';
import { listTransactions } from './transactions/list-transactions.ts';
import { recordMovements } from './transactions/movements.ts';
import { moved } from './transactions/on-funding-moved.ts';
import { finalized, issued, reversed } from './transactions/on-settlement.ts';
import { salesSummary } from './transactions/sales-summary.ts';
import { spendingSummary } from './transactions/spending-summary.ts';
import { backup } from './wallets/backup.ts';
import { countAuthorities } from './wallets/count-authorities.ts';
import { find } from './wallets/find.ts';
import { findDefaults } from './wallets/find-defaults.ts';
import { findWallets } from './wallets/find-wallets.ts';
import { link } from './wallets/link.ts';
import { list } from './wallets/list.ts';
import { tokenAccountProgressed } from './wallets/on-chain-submitter-token-account-progressed.ts';
import { provision } from './wallets/provision.ts';
import { redispatchTokenAccounts } from './wallets/redispatch-token-accounts.ts';
import { replaceBackup } from './wallets/replace-backup.ts';
import { setDefault } from './wallets/set-default.ts';
import { watchWallets } from './wallets/snapshots/watch-wallets.ts';

const REDISPATCH_EVERY_MS = 2000;
/** How often the watcher queries its table for due wallets, at most. */
const WATCH_PAUSE_MS = 500;
/**
 * Lists may be this far behind: the events of a window share a statement. Who has paid looks at the
 * list at once, so it is short.
 */
const BATCH_WINDOW_MS = 40;

const termsOf = (config: Config): Terms => ({
  cursorKeys: config.CURSOR_KEY,
  chainWaitMs: config.CHAIN_WAIT_MS,
  watchEveryMs: config.WATCH_EVERY_MS,
});

type Deps = Records & Terms & Peers & Pick<ServiceBase, 'waiting'>;

const operations = (deps: Deps) => ({
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
  salesSummary: salesSummary(deps),
  find: find(deps),
  findDefaults: findDefaults(deps),
  setDefault: setDefault(deps),
  countAuthorities: countAuthorities(deps),
  findWallets: withInspection(deps.pool, 'wallets', findWallets(deps), (found) =>
    found.map(({ account_id }) => account_id),
  ),
  getAccountActivity: getAccountActivity(deps),
});

const consume = ({ bus, quarantine }: ServiceBase, deps: Deps) => {
  const batching = { quarantine, batchWindowMs: BATCH_WINDOW_MS };
  const ofChain = {
    delegationProgressed: delegationProgressed(deps),
    tokenAccountProgressed: tokenAccountProgressed(deps),
  };
  const ofIdentity = { accountClosed: accountClosed(deps), accountErased: accountErased(deps) };
  return [
    subscribe(bus, chainSubmitter, ofChain, quarantine),
    subscribeInBatches(bus, settlement, { issued, finalized, reversed }, recordMovements(deps), batching),
    subscribeInBatches(bus, funding, { moved }, recordMovements(deps), batching),
    subscribe(bus, identity, ofIdentity, quarantine),
  ];
};

/** Starts the wallet service. */
export const createService = (base: ServiceBase, config: Config, peers: Peers): Service => {
  const { bus, pool, clock, logger, waiting } = base;
  const deps = { ...recordsOf(base), ...termsOf(config), ...peers, waiting };
  const consuming = consume(base, deps);
  const handlers = {
    ...operations(deps),
    listSentEvents: listSentEvents(pool),
    ...operatorHandlers({ pool, consuming, listAccountRecords: listWalletRecords(pool) }),
  };
  const watchPauseMs = Math.min(WATCH_PAUSE_MS, config.WATCH_EVERY_MS);
  return {
    serving: serve(bus, wallet, handlers, { now: clock.now }),
    consuming,
    jobs: [
      everyMs(REDISPATCH_EVERY_MS, 'redispatchTokenAccounts', redispatchTokenAccounts(deps), logger),
      everyMs(watchPauseMs, 'watchWallets', watchWallets(deps), logger),
    ],
  };
};
