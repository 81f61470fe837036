import type { LinkAddress } from './link.ts';

/**
 * The secret of a page of a payment link. Its payments are recorded with the hash of secret and
 * link, and only whoever has the secret is told of them. A code for phones shows the hash.
 */

const SECRET_BYTES = 32;
const keyOf = ({ environment, paymentLinkId }: LinkAddress): string =>
  `quittance.page.${environment}.${paymentLinkId}`;

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The secret of this tab, if it has paid or shown a code. A reload keeps it. */
const keptSecret = (link: LinkAddress): string | null => sessionStorage.getItem(keyOf(link));

/** The secret of this tab. */
export const secretOf = (link: LinkAddress): string => {
  const kept = keptSecret(link);
  if (kept !== null) return kept;
  const secret = base64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  sessionStorage.setItem(keyOf(link), secret);
  return secret;
};

/** The next payment of this tab has another one. */
export const forgetSecret = (link: LinkAddress): void => sessionStorage.removeItem(keyOf(link));

/** What is shown of a secret, as shared/lib/page-handle.ts makes it. */
export const handleOf = async (secret: string, paymentLinkId: string): Promise<string> => {
  const text = new TextEncoder().encode(`${paymentLinkId}.${secret}`);
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', text)));
};
