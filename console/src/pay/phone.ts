import type { Client } from '../../../sdk/src/main.ts';
import type { LinkAddress } from './link.ts';

/**
 * The code of a payment link for the wallet of a phone: a transaction request of Solana Pay
 * (docs/adr/0080). The page keeps a secret and shows its hash only. So whoever sees the code can
 * pay, and only the page learns what was paid.
 */

type PhonePayment = Awaited<ReturnType<Client['settlement']['followPhonePayment']>>;

const SECRET_BYTES = 32;
const keyOf = ({ environment, paymentLinkId }: LinkAddress): string =>
  `quittance.phone.${environment}.${paymentLinkId}`;

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The secret of this tab, which a reload keeps: a phone may have scanned its code. */
export const secretOf = (link: LinkAddress): string => {
  const kept = sessionStorage.getItem(keyOf(link));
  if (kept !== null) return kept;
  const secret = base64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  sessionStorage.setItem(keyOf(link), secret);
  return secret;
};

/** The next payment of this tab has another code. */
export const forgetSecret = (link: LinkAddress): void => sessionStorage.removeItem(keyOf(link));

/**
 * The text of the code.
 * @param origin of the API, as the signed quote names it
 */
export const codeOf = async (
  { environment, paymentLinkId }: LinkAddress,
  secret: string,
  origin: string,
): Promise<string> => {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
  const handle = base64url(new Uint8Array(hash));
  const address = `${origin}/v1/payment-links/${paymentLinkId}/solana-pay/${environment}/${handle}`;
  return `solana:${encodeURIComponent(address)}`;
};

/** What became of the code. Null: the API does not answer now. */
export const followPhone = (
  client: Pick<Client, 'settlement'>,
  { environment }: LinkAddress,
  secret: string,
): Promise<PhonePayment | null> =>
  client.settlement.followPhonePayment({ environment, secret }).catch(() => null);
