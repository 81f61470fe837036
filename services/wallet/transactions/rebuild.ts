// Builds the projections of this service anew from the tables of the services that own them. Run beside the service
// with its own configuration (docs/runbook.md): node services/wallet/transactions/rebuild.ts
import { closeBase, openBase } from '../../../shared/boot.ts';
import { call } from '../../../shared/bus/call.ts';
import { funding, settlement } from '../../../shared/contract/index.ts';
import { loadConfig } from '../../../shared/lib/config.ts';
import { config as schema } from '../config.ts';
import { rebuildTransactions } from './rebuild-transactions.ts';

const PAGE_TIMEOUT_MS = 10_000;

const config = loadConfig(schema);
// The port for probes is the service's, which runs beside this.
const base = await openBase('wallet', { ...config, HTTP_PORT: 0 });
const { bus, pool, logger } = base;
try {
  const rebuilt = await rebuildTransactions(pool, {
    listPaid: (page) => call(bus, settlement, 'listPaid', page, { timeoutMs: PAGE_TIMEOUT_MS }),
    listMoved: (page) => call(bus, funding, 'listMoved', page, { timeoutMs: PAGE_TIMEOUT_MS }),
  });
  logger.info(rebuilt, 'rebuilt');
} finally {
  await closeBase(base);
  await base.telemetry.stop();
}
