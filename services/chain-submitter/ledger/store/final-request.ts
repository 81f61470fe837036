import { createHash } from 'node:crypto';
import { sql } from '../../../../shared/db/pool.ts';

/*
 * What an intent keeps of its request once its payment is final. Nothing is signed for it any more,
 * and a settle's request is mostly its quote token, which settlement has too. A hash of the token
 * still tells whether a late job or report is about the same quote.
 */

type SettleRequest = { quote_token?: string; quote_hash?: string };

/**
 * The request of intent `i` at its finality. Fields that its ids have are left out, and the hash is
 * that of `quoteHashOf`.
 */
export const finalRequest = sql.fragment`case when i.kind = 'settle' and i.request ? 'quote_token'
  then i.request - '{quote_token,extension_tokens,account_id,payment_attempt_id,settlement_id,generation}'::text[]
    || jsonb_build_object('quote_hash',
      encode(sha256(convert_to(i.request ->> 'quote_token', 'UTF8')), 'base64'))
  else i.request end`;

/** SHA-256 of the quote token of a settle, base64; undefined for a request without one. */
export const quoteHashOf = (request: unknown): string | undefined => {
  const { quote_token, quote_hash } = request as SettleRequest;
  return quote_token === undefined ? quote_hash : createHash('sha256').update(quote_token).digest('base64');
};

/** What a settle captures; undefined for a request that captures no part of its quote. */
export const captureAmountOf = (request: unknown): string | undefined =>
  (request as { capture_amount?: string }).capture_amount;

/**
 * A settle's intent with its whole request, whose quote token the caller knows.
 * @returns null when the intent is of another quote
 */
export const withQuoteToken = <I extends { object_id: string; request: unknown }>(
  intent: I,
  attempt: { account_id: string; payment_attempt_id: string; quote_token: string },
): I | null => {
  const { quote_hash, ...request } = intent.request as SettleRequest;
  if (quote_hash === undefined) return intent;
  if (quote_hash !== quoteHashOf(attempt)) return null;
  const { account_id, payment_attempt_id, quote_token } = attempt;
  const named = { account_id, payment_attempt_id, settlement_id: intent.object_id, generation: 0 };
  return { ...intent, request: { ...request, ...named, quote_token } };
};
