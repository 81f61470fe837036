import { event, job, type Message } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { laneOf } from '../../../shared/lib/lane.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { itemOfPayment } from './model/item.ts';
import type { ConfirmedEvents } from './store/record-progress.ts';
import type { Terms } from './store/settlements.ts';
import type { DispatchRow } from './store/stalled.ts';
import { partiesOf, paymentOf } from './view.ts';

type Trace = Pick<Message, 'traceparent'>;

/**
 * How long the event of a redeem or an expiry may wait for others, so that they share a batch. Only
 * webhooks are derived from it.
 */
export const END_BATCH_WINDOW_MS = 100;

/**
 * The job that makes chain-submitter pay. Its message id names the dispatch, because a stream drops
 * a repeated id even after the first message was consumed (rule 6). chain-submitter's inbox does
 * not use the dispatch.
 */
export const settleJob = (row: DispatchRow, trace: Trace = {}): Message =>
  job(
    'chain-submitter.settle',
    {
      account_id: row.account_id,
      payment_attempt_id: row.payment_attempt_id,
      settlement_id: row.settlement_id,
      accepted_at: isoTime(row.created_at),
      generation: row.generation,
      quote_token: row.quote_token,
      ...(row.capture_amount !== null && { capture_amount: formatMicro(row.capture_amount) }),
      ...(row.extension_tokens !== null && { extension_tokens: row.extension_tokens }),
      payer: { wallet_id: row.wallet_id, owner: row.owner, authority: row.authority },
    },
    { dispatch: row.dispatch_count, ...trace },
  );

/**
 * The first dispatch of the job, which is handed over to the owner of the payer's lane. A later one
 * is published at once, because the owner may be a process that is paused.
 */
export const firstSettleJob = (row: DispatchRow, trace: Trace): Message => ({
  ...settleJob(row, trace),
  receiver: { service: 'chain-submitter', name: 'settle', receiver: laneOf(row.account_id) },
});

export const acceptedEvent = (terms: Terms, trace: Trace = {}): Message =>
  event(
    'settlement.accepted',
    { settlement_id: terms.settlement_id, quote_id: terms.quote_id, ...partiesOf(terms) },
    trace,
  );

/** @param endsAt epoch milliseconds */
export const authorizedEvent = (terms: Terms, endsAt: number, trace: Trace): Message =>
  event(
    'settlement.authorized',
    {
      settlement_id: terms.settlement_id,
      quote_id: terms.quote_id,
      scope: terms.scope,
      ...partiesOf(terms),
      capture_ends_at: isoTime(endsAt),
    },
    trace,
  );

/** The events of a capture that is confirmed, which also redeems the settlement. */
const capturedEvents = (
  terms: Terms,
  { tx_hash, issued_at }: { tx_hash: string; issued_at: number },
  trace: Trace,
): { redeemed: Message; captured: Message } | null => {
  if (terms.ceiling === null) return null;
  const about = {
    settlement_id: terms.settlement_id,
    quote_id: terms.quote_id,
    scope: terms.scope,
    ...partiesOf(terms),
  };
  return {
    redeemed: event(
      'settlement.redeemed',
      { ...about, redeemed_at: isoTime(issued_at), redeem_id: null },
      trace,
    ),
    captured: event(
      'settlement.captured',
      { ...about, tx_hash, max_amount: formatMicro(terms.ceiling) },
      trace,
    ),
  };
};

/**
 * The events of a payment that is confirmed, of which the statement that records it inserts those
 * that apply.
 */
export const confirmedEvents = (
  terms: Terms,
  { tx_hash, issued_at }: { tx_hash: string; issued_at: number },
  trace: Trace,
): ConfirmedEvents => {
  const about = {
    settlement_id: terms.settlement_id,
    quote_id: terms.quote_id,
    scope: terms.scope,
    tx_hash,
  };
  return {
    issued: event(
      'settlement.issued',
      {
        ...about,
        ...paymentOf(terms, issued_at),
        item: itemOfPayment(terms),
        payees: terms.payees === null ? null : [...terms.payees],
      },
      trace,
    ),
    finalized: event('settlement.finalized', { ...about, ...partiesOf(terms) }, trace),
    captured: capturedEvents(terms, { tx_hash, issued_at }, trace),
  };
};

/**
 * The events of a payment that failed, of which the statement that records it inserts those that
 * apply.
 */
export const failedEvents = (
  terms: Terms,
  { code, redeemed, usedMicro }: { code: string; redeemed: boolean; usedMicro: bigint },
): { failed: Message; reversed: Message } => {
  const about = {
    settlement_id: terms.settlement_id,
    quote_id: terms.quote_id,
    scope: terms.scope,
    ...partiesOf(terms),
  };
  return {
    failed: event('settlement.failed', {
      ...about,
      code,
      ...(terms.ceiling !== null && { used: formatMicro(usedMicro) }),
    }),
    reversed: event('settlement.reversed', { ...about, redeemed }),
  };
};
