import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { hear } from '../../shared/bus/consume.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, funding, wallet } from '../../shared/contract/index.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { config as schema } from './config.ts';
import { fundProgressed } from './consumers/chain-submitter.fundProgressed.ts';
import type { Deps } from './deps.ts';
import { createDeposit } from './handlers/createDeposit.ts';
import { devFund } from './handlers/devFund.ts';
import { getDeposit } from './handlers/getDeposit.ts';
import { listDeposits } from './handlers/listDeposits.ts';
import { providerWebhook } from './handlers/providerWebhook.ts';
import { driveDevFunds } from './jobs/driveDevFunds.ts';
import { followDeposits } from './jobs/followDeposits.ts';
import { createCoinbase } from './providers/coinbase.ts';
import { createMoonpay } from './providers/moonpay.ts';

const DRIVE_EVERY_MS = 2000;
const FOLLOW_EVERY_MS = 1000;

const config = loadConfig(schema);
const base = await openBase('funding', config);
const { bus, pool, relay, waiting, logger, quarantine } = base;

const deps: Deps = {
  pool,
  logger,
  cursorKey: config.CURSOR_KEY,
  onramps: {
    ...(config.MOONPAY && { moonpay: createMoonpay(config.MOONPAY, systemClock) }),
    ...(config.COINBASE && { coinbase: createCoinbase(config.COINBASE, systemClock) }),
  },
  relay,
  waiting,
  chainWaitMs: config.CHAIN_WAIT_MS,
  devFund: config.DEV_FUND,
  findWallet: (account_id, wallet_id) => call(bus, wallet, 'find', { account_id, wallet_id }),
  observeTransfers: (tx_hash, owner) => call(bus, chainSubmitter, 'observeTransfers', { tx_hash, owner }),
  observeWallet: (owner) => call(bus, chainSubmitter, 'observeWallet', { owner }),
};

await runService(base, config, {
  serving: serve(bus, funding, {
    devFund: devFund(deps),
    createDeposit: createDeposit(deps),
    listDeposits: listDeposits(deps),
    getDeposit: getDeposit(deps),
    providerWebhook: providerWebhook(deps),
  }),
  consuming: [hear(bus, chainSubmitter, { fundProgressed: fundProgressed(deps) }, quarantine)],
  jobs: [
    everyMs(DRIVE_EVERY_MS, 'driveDevFunds', driveDevFunds(deps), logger),
    everyMs(FOLLOW_EVERY_MS, 'followDeposits', followDeposits(deps), logger),
  ],
});
