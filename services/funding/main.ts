import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { hear } from '../../shared/bus/consume.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, funding, wallet } from '../../shared/contract/index.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { config as schema } from './config.ts';
import { fundProgressed } from './consumers/chain-submitter.fundProgressed.ts';
import type { Deps } from './deps.ts';
import { devFund } from './handlers/devFund.ts';
import { listMoved } from './handlers/listMoved.ts';
import { driveDevFunds } from './jobs/driveDevFunds.ts';

const DRIVE_EVERY_MS = 2000;

const config = loadConfig(schema);
const base = await openBase('funding', config);
const { bus, pool, relay, waiting, logger, quarantine } = base;

const deps: Deps = {
  pool,
  relay,
  waiting,
  chainWaitMs: config.CHAIN_WAIT_MS,
  devFund: config.DEV_FUND,
  findWallet: (account_id, wallet_id) => call(bus, wallet, 'find', { account_id, wallet_id }),
  observeWallet: (owner) => call(bus, chainSubmitter, 'observeWallet', { owner }),
};

await runService(base, config, {
  serving: serve(bus, funding, { devFund: devFund(deps), listMoved: listMoved(deps) }),
  consuming: [hear(bus, chainSubmitter, { fundProgressed: fundProgressed(deps) }, quarantine)],
  jobs: [everyMs(DRIVE_EVERY_MS, 'driveDevFunds', driveDevFunds(deps), logger)],
});
