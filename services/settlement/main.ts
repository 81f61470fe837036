import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { hear } from '../../shared/bus/consume.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, settlement, wallet } from '../../shared/contract/index.ts';
import { cached } from '../../shared/lib/cached.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { config as schema } from './config.ts';
import { settleProgressed } from './consumers/chain-submitter.settleProgressed.ts';
import { delegationChanged } from './consumers/wallet.delegationChanged.ts';
import type { Deps } from './deps.ts';
import { consume } from './handlers/consume.ts';
import { findByQuotes } from './handlers/findByQuotes.ts';
import { findDelegates } from './handlers/findDelegates.ts';
import { findPaid } from './handlers/findPaid.ts';
import { get } from './handlers/get.ts';
import { list } from './handlers/list.ts';
import { listPaid } from './handlers/listPaid.ts';
import { putDelegate } from './handlers/putDelegate.ts';
import { redeem } from './handlers/redeem.ts';
import { releaseRefund } from './handlers/releaseRefund.ts';
import { reserveRefund } from './handlers/reserveRefund.ts';
import { settle } from './handlers/settle.ts';
import { settlementActivity } from './handlers/settlementActivity.ts';
import { spentSince } from './handlers/spentSince.ts';
import { verify } from './handlers/verify.ts';
import { expireSettlements } from './jobs/expireSettlements.ts';
import { resumeSettlements } from './jobs/resumeSettlements.ts';
import { attemptsReading } from './readings.ts';

const config = loadConfig(schema);
const base = await openBase('settlement', config);
const { bus, pool, clock, relay, waiting, quarantine, logger } = base;

// A changed default wallet acts within this time; the addresses of a wallet never change.
const findDefault = cached((account_id) => call(bus, wallet, 'find', { account_id }), {
  maxAgeMs: 1000,
  keep: (found) => found !== null,
});
// Many refused settles of one wallet look at the chain once.
const observeWallet = cached((owner) => call(bus, chainSubmitter, 'observeWallet', { owner }), {
  maxAgeMs: 100,
});
// Asked once a second at most, whatever the load.
const observeChain = cached(() => call(bus, chainSubmitter, 'observeChain', {}, { timeoutMs: 2000 }), {
  maxAgeMs: 1000,
});

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
  quarantine,
  findWallet: (account_id, wallet_id) =>
    wallet_id === null ? findDefault(account_id) : call(bus, wallet, 'find', { account_id, wallet_id }),
  // A chain-submitter that does not answer says nothing about the chain: its queue waits for it.
  isChainReadable: () =>
    observeChain('chain').then(
      ({ readable }) => readable,
      () => true,
    ),
  observeWallet,
};

await runService(base, {
  serving: serve(bus, settlement, {
    settle: settle(deps),
    redeem: redeem(deps),
    consume: consume(deps),
    verify: verify(deps),
    list: list(deps),
    get: get(deps),
    findByQuotes: findByQuotes(deps),
    putDelegate: putDelegate(deps),
    findDelegates: findDelegates(deps),
    settlementActivity: settlementActivity(deps),
    reserveRefund: reserveRefund(deps),
    releaseRefund: releaseRefund(deps),
    listPaid: listPaid(deps),
    findPaid: findPaid(deps),
    spentSince: spentSince(deps),
  }),
  consuming: [
    hear(bus, chainSubmitter, { settleProgressed: settleProgressed(deps) }, quarantine),
    hear(bus, wallet, { delegationChanged: delegationChanged(deps) }, quarantine),
  ],
  jobs: [
    everyMs(1000, 'expireSettlements', expireSettlements(deps), logger),
    everyMs(1000, 'resumeSettlements', resumeSettlements(deps), logger),
  ],
  readings: [attemptsReading(pool)],
});
