import { createHash } from 'node:crypto';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Payee } from '../../../shared/lib/money/payees.ts';

/** What the owner of a delegate signs. */
type Terms = {
  approval_id: string;
  /** Null for a vendor that does not use Quittance. */
  quote_id: string | null;
  /** Micro-units. */
  amount: string;
  payees: readonly Payee[];
};

/**
 * The challenge of an approval: SHA-256, in base64url, of the lines `quittance-approval`,
 * environment, approval, quote (empty without one) and amount, and a line with the address and the
 * amount of each payee, joined by line feeds. No value contains a line feed or a space, so two
 * payments never have the same text. The passkey therefore signs this payment and no other.
 */
export const approvalChallenge = (
  environment: Environment,
  { approval_id, quote_id, amount, payees }: Terms,
): string => {
  const paid = payees.map((payee) => `${payee.address} ${payee.amount}`);
  const lines = ['quittance-approval', environment, approval_id, quote_id ?? '', amount, ...paid];
  return createHash('sha256').update(lines.join('\n')).digest('base64url');
};
