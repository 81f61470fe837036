import type { z } from 'zod';
import { conflict, invalid, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { CaptureTerms } from '../../../shared/contract/quote/capture.ts';
import type { quote } from '../../../shared/contract/quote.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { feeMicro } from '../../../shared/lib/money/fee.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { findQuote, type QuoteScope } from './store.ts';

type Input = z.infer<typeof quote.operations.create.input>;

/** The fields that an extension takes over from the quote that it names. */
const TAKEN_OVER = [
  'quote_amount',
  'capture',
  'unit_price',
  'capture_window_seconds',
  'capture_threshold',
  'redeem_window_seconds',
  'scope',
] as const satisfies readonly (keyof Input)[];

/** What an extension has of the quote whose authorization it extends. */
type Extended = QuoteClaims & { capture: CaptureTerms };

const hasCeiling = (claims: QuoteClaims): claims is Extended => claims.capture !== undefined;

/**
 * The quote that a new one extends, verified when it was stored. Whether its authorization is open
 * is decided when the extension is settled; what is known to have ended is refused here already.
 * @throws ServiceError validation_error, not_found, conflict, authorization_closed
 */
export const findExtended = async (
  db: Db,
  input: Input & { extends: string },
  scope: QuoteScope,
): Promise<Extended> => {
  const sent = TAKEN_OVER.find((field) => input[field] !== undefined);
  if (sent !== undefined)
    throw invalid(sent, 'stays as the extended quote has it; send max_amount, by which its ceiling grows');
  if (input.max_amount === undefined) throw invalid('max_amount', 'is required with extends');
  const row = await findQuote(db, scope, input.extends);
  if (row === null) throw notFound('quote to extend');
  const claims = storedClaims(row.quote_token);
  if (!hasCeiling(claims)) throw conflict('the quote to extend has no ceiling: its whole amount is paid');
  if (claims.extends !== undefined)
    throw invalid('extends', `names an extension; send the quote that it extends, ${claims.extends}`);
  if (row.settlement_state === 'issued' || row.settlement_state === 'failed')
    throw new ServiceError(
      'authorization_closed',
      'the authorization is captured or has ended; offer the buyer another one',
    );
  return claims;
};

/**
 * The amounts of an extension: the addition, and its share of the fee. The smallest fee is part of
 * the first quote's.
 * @throws ServiceError validation_error where the fee takes the addition
 */
export const amountsOfExtension = (maxAmount: string, { fee }: Pick<CaptureTerms, 'fee'>) => {
  const added = parseMicro(maxAmount);
  const share = feeMicro(added, { bps: BigInt(fee.bps), minMicro: 0n });
  if (share >= added)
    throw invalid('max_amount', `must exceed its share of the fee, which is ${share} micro-units`);
  return { quote_amount: added, fee_amount: share };
};
