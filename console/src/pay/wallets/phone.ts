import type { LinkAddress } from '../link.ts';
import { handleOf } from '../secret.ts';

export type PhoneState = 'waiting' | 'pending' | 'failed';
/** The code of a page, and what became of it. */
export type Phone = {
  /** Null: not made yet. */
  code: string | null;
  state: PhoneState;
};

/**
 * The text of the code of a payment link for the wallet of a phone: a transaction request of Solana
 * Pay (docs/adr/0080). Whoever sees it can pay, and only the page learns what was paid.
 * @param origin of the API, as the signed quote names it
 */
export const codeOf = async (
  { environment, paymentLinkId }: LinkAddress,
  secret: string,
  origin: string,
): Promise<string> => {
  const handle = await handleOf(secret, paymentLinkId);
  const address = `${origin}/v1/payment-links/${paymentLinkId}/solana-pay/${environment}/${handle}`;
  return `solana:${encodeURIComponent(address)}`;
};
