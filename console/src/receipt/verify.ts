import { BadReceiptError, type ReceiptClaims, verifyReceipt } from '../../../sdk/src/checks/receipt.ts';
import { bytesOf, type Keys, parse } from '../../../sdk/src/checks/tokens.ts';
import { loadPublishedKeys } from '../lib/published-keys.ts';

/** What this page says about a receipt. `unverified` is no statement about it. */
export type Outcome =
  | { is: 'valid'; claims: ReceiptClaims; kid: string }
  | { is: 'bad' | 'unverified'; why: string };

class NotVerifiedError extends Error {}

const loadKeys = async (): Promise<Keys> => {
  try {
    return await loadPublishedKeys();
  } catch {
    throw new NotVerifiedError('The public keys could not be loaded. Check your connection and reload.');
  }
};

/** The key that the header names. Nothing is verified yet. */
const kidOf = (receipt: string): string => {
  try {
    return String(parse(bytesOf(receipt.split('.')[0]!)).kid);
  } catch {
    return '';
  }
};

const verified = async (receipt: string): Promise<Outcome> => {
  if (globalThis.crypto?.subtle === undefined)
    throw new NotVerifiedError('Receipts can be verified over https only. Open the https address.');
  const kid = kidOf(receipt);
  // The page shows the environment of the receipt, so either is expected.
  const environment = kid.startsWith('live.') ? 'live' : 'test';
  return { is: 'valid', claims: await verifyReceipt(receipt, { environment, keys: await loadKeys() }), kid };
};

/** Verifies a receipt in this page. Only the public keys are loaded. */
export const outcomeOf = async (receipt: string): Promise<Outcome> => {
  try {
    return await verified(receipt);
  } catch (error) {
    if (error instanceof BadReceiptError) return { is: 'bad', why: error.message };
    if (error instanceof NotVerifiedError) return { is: 'unverified', why: error.message };
    return {
      is: 'unverified',
      why: 'This browser cannot verify Ed25519 signatures. Use a current browser.',
    };
  }
};
