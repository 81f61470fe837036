import { createHmac } from 'node:crypto';
import { encodeBase58 } from '../../../shared/lib/chain/base58.ts';

/**
 * The reference, a read-only key on a payment (docs/design/settle.md, rule 12): an HMAC of
 * environment and id. It needs no database and no secret. Whoever has the quote (its vendor, its
 * payer, an operator after the loss of a database) finds its payment by `getSignaturesForAddress`.
 * Without the quote, a transfer cannot be matched to it.
 * @param id quote id, or kind and id of another object
 */
export const referenceOf = (environment: string, id: string): string =>
  encodeBase58(
    createHmac('sha256', `${environment}.quittance.reference`).update(`${environment}/${id}`).digest(),
  );
