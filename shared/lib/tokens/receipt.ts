import { CompactSign } from 'jose';
import { RECEIPT_TYPE, type ReceiptClaims } from '../../contract/settlement/receipts.ts';
import type { SigningKey } from './keys.ts';

/**
 * Signs a receipt as a compact JWS (RFC 7515) with settlement's current key.
 *
 * The key also signs settlement tokens. Neither can be passed off as the other: the signature of a
 * JWS covers `<header>.<payload>`, which contains a dot, and that of a settlement token covers one
 * base64url part, which cannot contain one. So no signature is valid for both.
 * @returns `<header>.<payload>.<signature>`; the same claims and key give the same text
 */
export const signReceipt = (claims: ReceiptClaims, { kid, key }: SigningKey): Promise<string> =>
  new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: RECEIPT_TYPE })
    .sign(key);
