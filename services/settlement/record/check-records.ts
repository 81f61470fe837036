import { z } from 'zod';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { eventSubject } from '../../../shared/events/event.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { Peers } from '../peers.ts';
import {
  getCheck,
  insertFoundRestore,
  insertUnchecked,
  listFoundRestores,
  listMissing,
  recordChecked,
} from './store/restores.ts';

/*
 * Records a restore that nobody has recorded (docs/adr/0095-lost-records.md). chain-submitter finds
 * by the chain what it has lost. What only this database has lost, chain-submitter knows.
 */

type Deps = {
  pool: Pool;
  logger: Logger;
} & Pick<Peers, 'listLostRecords' | 'listChainEvents'>;

const PROGRESSED = eventSubject('chain-submitter.settleProgressed');
const Paid = z.object({ object_id: z.string(), status: z.enum(['confirmed', 'finalized']) });

/** Whether chain-submitter has published the payment of a settlement that this database lacks. */
const lacksPayments = async ({ pool, listChainEvents }: Deps, since: string): Promise<boolean> => {
  let after: string | null = null;
  do {
    const { events, next }: Awaited<ReturnType<Peers['listChainEvents']>> = await listChainEvents({
      since,
      after,
    });
    const paid = events.flatMap(({ subject, payload }) => {
      const parsed = Paid.safeParse(payload);
      return subject === PROGRESSED && parsed.success ? [parsed.data.object_id] : [];
    });
    if (paid.length > 0 && (await listMissing(pool, paid)).length > 0) return true;
    after = next;
  } while (after !== null);
  return false;
};

/**
 * Compares this database with chain-submitter's records: each minute, and at once when the server
 * of the database has started, because that may be a restored copy. Until then no attempt of the
 * time since the last check is denied.
 */
export const checkRecords = (deps: Deps) => async (): Promise<void> => {
  const { pool, logger, listLostRecords } = deps;
  const check = await getCheck(pool);
  if (!check.is_due) return;
  if (check.is_restarted) await insertUnchecked(pool);
  const found = (foundBy: string, since: string) => {
    count('quittance_anomalies_total', 1, { kind: 'lost_record' });
    logger.error({ found_by: foundBy, since }, 'records are lost: attempts since then are not denied');
    return insertFoundRestore(pool, foundBy, since);
  };
  const { compared, lost } = await listLostRecords({});
  const known = new Set(await listFoundRestores(pool));
  for (const { lost_id, since } of lost) if (!known.has(lost_id)) await found(lost_id, since);
  if (!compared)
    throw new ServiceError('service_unavailable', 'chain-submitter has not compared its records yet');
  const { checked_at, events_since, server_start } = check;
  if (check.is_restarted && (await lacksPayments(deps, events_since!)))
    await found(`settlement ${server_start}`, checked_at!);
  await recordChecked(pool, check);
};
