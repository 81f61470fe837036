import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { currentEvent } from './events.ts';
import { findIntent, type IntentRow, updateSettlementId } from './store/intents.ts';

export type IntentFinder = { pool: Pool; relay: Outbox; logger: Logger };

/**
 * The intent of a payment, as that of this settlement; null without one. A settlement is
 * unique by its message, so another id means that its database was restored from a backup: the
 * intent gets the new id, and its state is published under it.
 */
export const findPaymentIntent = async (
  { pool, relay, logger }: IntentFinder,
  intentId: string,
  settlementId: string,
): Promise<IntentRow | null> => {
  const intent = await findIntent(pool, intentId);
  if (intent === null || intent.object_id === settlementId) return intent;
  count('quittance_anomalies_total', 1, { kind: 'work_under_another_id' });
  logger.error(
    { intent: intentId, settlement_id: settlementId, before: intent.object_id },
    'payment belongs to a settlement whose record is lost: it gets the id of the new one',
  );
  await updateSettlementId(pool, intentId, settlementId);
  const renamed = { ...intent, object_id: settlementId };
  const message = currentEvent(renamed);
  if (message !== null) relay.dispatch(await insertOutbox(pool, [message]));
  return renamed;
};
