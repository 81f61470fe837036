import { job, type Message } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { StalledRow } from './store/settlements.ts';

/**
 * How long the event of an end may wait for others to share a batch: webhooks alone are made of it.
 */
export const END_BATCH_WINDOW_MS = 100;

/**
 * The job that makes chain-submitter pay. Its message id names the dispatch, because a stream drops
 * a repeated id even after the first was consumed (rule 6); chain-submitter's own inbox does not
 * know the dispatch.
 */
export const settleJob = (row: StalledRow, options: Pick<Message, 'traceparent'> = {}): Message =>
  job(
    'chain-submitter.settle',
    {
      account_id: row.account_id,
      payment_attempt_id: row.payment_attempt_id,
      settlement_id: row.settlement_id,
      accepted_at: isoTime(row.created_at),
      generation: row.generation,
      quote_token: row.quote_token,
      payer: { wallet_id: row.wallet_id, owner: row.owner, authority: row.authority },
    },
    { dispatch: row.drive, ...options },
  );
