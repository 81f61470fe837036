import { conflict, invalid, notFound } from '../../../shared/contract/errors.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { batched } from '../../../shared/db/batched.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { signToken } from '../../../shared/lib/compact-token.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { feeMicro } from '../domain/fee.ts';
import { insertQuotes, type NewQuote } from '../store/quotes.ts';

const DEFAULT_EXPIRES_IN_SECONDS = 600;
/**
 * docs/spec/interface.md: at most 4096 bytes; of the JSON that is signed (docs/spec/decisions.md,
 * Quote).
 */
const MAX_SCOPE_BYTES = 4096;

/** A payment is signed up to 60 s after its quote's expiry (rule 11); the rest is for the answer to come. */
const SIGNED_WITHIN_MS = 90_000;

/** POST /v1/quote. */
export const create = (deps: Deps): Handler<typeof quote.operations.create> => {
  // Quotes that are asked for at the same moment share a commit.
  const insert = batched(async (rows: readonly NewQuote[]) => {
    await insertQuotes(deps.pool, rows);
    return rows;
  });
  return async (input, caller, key) => {
    // A key's scope is its service; another service, of the same account or not, does not exist for it.
    const service = input.service_id === caller.service_id ? await deps.findService(input.service_id) : null;
    if (service === null || service.account_id !== caller.account_id) {
      throw notFound('service');
    }
    if (service.status !== 'active') throw conflict('the service is closing and takes no new quotes');

    const scope = input.scope ?? null;
    if (scope !== null && Buffer.byteLength(JSON.stringify(scope)) > MAX_SCOPE_BYTES) {
      throw invalid('scope', `must be at most ${MAX_SCOPE_BYTES} bytes of JSON`);
    }
    const amountMicro = parseMicro(input.quote_amount ?? service.price);
    const fee = feeMicro(amountMicro, deps.fee);
    if (amountMicro <= fee) {
      throw invalid(
        'quote_amount',
        `must exceed the fee of ${fee} micro-units, or the vendor would net nothing`,
      );
    }
    const lifeMs = (input.expires_in_seconds ?? DEFAULT_EXPIRES_IN_SECONDS) * 1000;
    const reserved = await deps.reserveTokenAccount(
      service.account_id,
      service.payout_address,
      deps.clock() + lifeMs + SIGNED_WITHIN_MS,
    );
    const { retry_after_seconds: retryAfterSeconds } = reserved;
    if (retryAfterSeconds !== null) {
      throw conflict(
        'the payout address has no USDC token account and the platform pays for no more of them today; create the token account first, or try again tomorrow',
        { retryAfterSeconds },
      );
    }
    if (reserved.status === 'refused') {
      throw conflict(
        'the payout address has no USDC token account and the quota of accounts that the platform pays for is used up; create the token account first',
      );
    }

    const now = deps.clock();
    const expiresAt = now + lifeMs;
    const redeemWindowSeconds = input.redeem_window_seconds ?? service.redeem_window_seconds;
    const quoteId = newId('q');
    const token = signToken(
      'quote',
      {
        env: deps.environment,
        quote_id: quoteId,
        vendor_account_id: service.account_id,
        service_id: service.service_id,
        service_name: service.name,
        payout_address: service.payout_address,
        mint: deps.mint,
        quote_amount: formatMicro(amountMicro),
        fee_amount: formatMicro(fee),
        currency: 'USDC',
        issued_at: isoTime(now),
        expires_at: isoTime(expiresAt),
        redeem_window_seconds: redeemWindowSeconds,
        scope,
      },
      deps.signingKey,
    );
    const row = {
      quote_id: quoteId,
      account_id: service.account_id,
      service_id: service.service_id,
      quote_amount: amountMicro,
      fee_amount: fee,
      redeem_window_seconds: redeemWindowSeconds,
      quote_token: token,
      expires_at: expiresAt,
      created_at: now,
    };
    const answer = {
      quote_id: quoteId,
      quote_token: token,
      quote_amount: formatMicro(amountMicro),
      fee_amount: formatMicro(fee),
      currency: 'USDC' as const,
      expires_at: isoTime(expiresAt),
      status: 'pending' as const,
    };
    if (key === undefined) await insert(row);
    else
      await deps.pool.transaction(async (tx) => {
        await insertQuotes(tx, [row]);
        await complete(tx, key, answer);
      });
    count('settle.quotes', 1);
    return answer;
  };
};
