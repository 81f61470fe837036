// Rebuilds the projection of this service from the tables of the services that own its rows. Run it
// beside the service with the service's configuration (docs/runbook.md): node
// services/wallet/transactions/rebuild.ts
import { closeBase, openBase } from '../../../shared/boot.ts';
import { call } from '../../../shared/bus/call.ts';
import { funding, settlement } from '../../../shared/contract/index.ts';
import { loadConfig } from '../../../shared/lib/config.ts';
import { config as schema } from '../config.ts';
import { rebuildTransactions } from './rebuild-transactions.ts';

const PAGE_TIMEOUT_MS = 10_000;

const config = loadConfig(schema);
// The service, which may run on the same host, has the configured port for probes.
const base = await openBase('wallet', { ...config, HTTP_PORT: 0 });
const { bus, pool, logger } = base;
try {
  const rebuilt = await rebuildTransactions(pool, {
    listPaid: (page) => call(bus, settlement, 'listPaid', page, { timeoutMs: PAGE_TIMEOUT_MS }),
    listMoved: (page) => call(bus, funding, 'listMoved', page, { timeoutMs: PAGE_TIMEOUT_MS }),
  });
  logger.info(rebuilt, 'transactions rebuilt');
} finally {
  await closeBase(base);
  await base.telemetry.stop();
}
