import { createHash } from 'node:crypto';
import type { Environment } from '../../../shared/contract/primitives.ts';

/** What the owner of a delegate signs. */
type Terms = {
  approval_id: string;
  /** Null for a vendor that does not use Quittance. */
  quote_id: string | null;
  /** Micro-units. */
  amount: string;
  pay_to: string;
};

/**
 * The challenge of an approval: SHA-256, in base64url, of the lines `quittance-approval`,
 * environment, approval, quote (empty without one), amount and payee, joined by line feeds. No
 * value contains a line feed, so two payments never have the same text. The passkey therefore signs
 * this payment and no other.
 */
export const approvalChallenge = (
  environment: Environment,
  { approval_id, quote_id, amount, pay_to }: Terms,
): string =>
  createHash('sha256')
    .update(['quittance-approval', environment, approval_id, quote_id ?? '', amount, pay_to].join('\n'))
    .digest('base64url');
