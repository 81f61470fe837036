import { createHash } from 'node:crypto';

/**
 * The handle of a page of a payment link: the hash of the secret that the page alone has, and of
 * its link. Whoever sees the handle learns nothing, and one of another link follows nothing here.
 * The page makes the same text (console/src/pay/secret.ts).
 * @returns 43 characters of base64url
 */
export const pageHandleOf = (secret: string, paymentLinkId: string): string =>
  createHash('sha256').update(`${paymentLinkId}.${secret}`).digest('base64url');
