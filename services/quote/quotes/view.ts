import type { z } from 'zod';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { QuoteRecord } from '../../../shared/contract/quote.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { quoteStatus } from './model/status.ts';
import { ceilingOf } from './new-quote.ts';
import type { QuoteRow, QuoteScope } from './store.ts';

/**
 * The quotes that a caller may see: a service key those of its service, a JWT those of the account.
 */
export const scopeOf = (caller: PrincipalOf<readonly ['service_key', 'jwt']>): QuoteScope => ({
  account_id: caller.account_id,
  service_id: caller.kind === 'service_key' ? caller.service_id : null,
});

/** A quote as its vendor reads it. The scope is stored in the signed token and nowhere else. */
export const showQuote = (row: QuoteRow, now: number): z.infer<typeof QuoteRecord> => ({
  quote_id: row.quote_id,
  quote_token: row.quote_token,
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
  currency: 'USDC',
  expires_at: isoTime(row.expires_at),
  status: quoteStatus(row.settlement_state, row.expires_at, now),
  service_id: row.service_id,
  redeem_window_seconds: row.redeem_window_seconds,
  scope: storedClaims(row.quote_token).scope,
  settlement_id: row.settlement_id,
  created_at: isoTime(row.created_at),
  ...ceilingOf(row),
});
