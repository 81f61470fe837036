import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { event, type Message } from '../../../shared/events/event.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { figuresShown, isCounted, type PaymentDeclined, periodOf } from './model.ts';
import { type DeclineRow, insertDeclines, type NewDecline } from './store.ts';
import { declinedEvent } from './view.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  clock: Clock;
  logger: Logger;
};

/** The attempt that was refused. The claims are of a verified quote token. */
type Refused = {
  caller: PrincipalOf<readonly ['jwt', 'delegate_key']>;
  paymentAttemptId: string;
  claims: QuoteClaims;
  /** What its quote sells, as people name it. */
  item: string | null;
};

/** Records a refusal. It never fails, and takes at most a second. */
export type RecordDecline = (refusal: PaymentDeclined, refused: Refused) => Promise<void>;

/** A client repeats a refused settle within minutes. */
const MAX_RECENT = 10_000;
/** The answer does not wait longer for the record. */
const RECORD_WAIT_MS = 1000;
/** Webhooks and mails are derived from the events, so they may wait for others. */
const BATCH_WINDOW_MS = 100;

const rowOf = (
  { reason, code, figures }: PaymentDeclined,
  { caller, paymentAttemptId, claims, item }: Refused,
  now: number,
): DeclineRow => ({
  decline_id: newId('dcl'),
  account_id: caller.account_id,
  delegate_id: caller.kind === 'delegate_key' ? caller.delegate_id : null,
  payment_attempt_id: paymentAttemptId,
  quote_id: claims.quote_id,
  vendor_account_id: claims.vendor_account_id,
  service_id: claims.service_id,
  service_name: claims.service_name,
  item,
  amount: parseMicro(claims.quote_amount),
  reason,
  code: code as DeclineRow['code'],
  limit_micro: figures?.limitMicro ?? null,
  left_micro: figures?.leftMicro ?? null,
  resets_at: figures?.resetsAt ?? null,
  created_at: now,
});

/** The report of a used-up limit. Null for another reason. */
const exhaustedOf = (
  { reason, figures }: PaymentDeclined,
  { decline_id, account_id, delegate_id }: DeclineRow,
) => {
  if (!isCounted(reason) || figures === null || delegate_id === null) return null;
  const { limit, left, resets_at } = figuresShown(figures);
  return {
    account_id,
    delegate_id,
    decline_id,
    name: reason,
    limit,
    used: formatMicro(figures.limitMicro > figures.leftMicro ? figures.limitMicro - figures.leftMicro : 0n),
    left,
    resets_at,
    period: periodOf(reason, figures.at),
  };
};

const declineOf = (refusal: PaymentDeclined, refused: Refused, now: number): NewDecline => {
  const row = rowOf(refusal, refused, now);
  const trace = { traceparent: activeTraceparent() };
  const exhausted = exhaustedOf(refusal, row);
  const messages: Message[] = [
    event('settlement.declined', declinedEvent(row), trace),
    ...(exhausted === null ? [] : [event('settlement.delegateExhausted', exhausted, trace)]),
  ];
  return { row, period: exhausted?.period ?? null, messages };
};

/**
 * Records refusals as declines, each once, with their events. Those of the same moment share a
 * statement. Repeats that this replica has recorded cost no statement.
 */
export const createRecordDecline = ({ pool, relay, clock, logger }: Deps): RecordDecline => {
  const recent = new LRUCache<string, true>({ max: MAX_RECENT });
  const insert = batched((declines: readonly NewDecline[]) => insertDeclines(pool, declines));

  const record = async (decline: NewDecline, key: string): Promise<void> => {
    try {
      const outbox = await insert(decline);
      recent.set(key, true);
      if (outbox === null) return;
      count('quittance_declines_total', 1, { reason: decline.row.reason });
      relay.dispatch(outbox, { batchWindowMs: BATCH_WINDOW_MS });
    } catch (error) {
      count('quittance_decline_failures_total', 1, { cause: 'error' });
      logger.error({ err: error, quote_id: decline.row.quote_id }, 'decline not recorded');
    }
  };

  return async (refusal, refused) => {
    const { caller, claims } = refused;
    const payer = caller.kind === 'delegate_key' ? caller.delegate_id : caller.account_id;
    const key = `${claims.quote_id}:${payer}:${refusal.reason}`;
    if (recent.has(key)) return;
    const recorded = record(declineOf(refusal, refused, clock()), key).then(() => true);
    if (await Promise.race([recorded, sleep(RECORD_WAIT_MS, false, { ref: false })])) return;
    count('quittance_decline_failures_total', 1, { cause: 'timeout' });
    logger.warn({ quote_id: claims.quote_id }, 'decline not recorded in time; the refusal was answered');
  };
};
