import { createHmac } from 'node:crypto';
import { encodeBase58 } from '../../../shared/lib/base58.ts';

/**
 * The read-only key on a payment (docs/design/settle.md, rule 12): HMAC of environment and id. It
 * needs no database and no secret, so whoever knows the quote (its vendor, its payer, an operator
 * after a lost database) finds its payment by `getSignaturesForAddress`, and nobody else can tell
 * which quote a transfer paid.
 * @param id quote id, or the id of a fund
 */
export const referenceOf = (environment: string, id: string): string =>
  encodeBase58(
    createHmac('sha256', `${environment}.quittance.reference`).update(`${environment}/${id}`).digest(),
  );
