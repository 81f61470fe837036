import { ServiceError } from '../../../../shared/contract/errors.ts';
import { tokenHash } from './tokens.ts';

/** One message for unknown, used, expired and replaced: which it was is nobody's business. */
export const linkIsGone = (): ServiceError =>
  new ServiceError('unauthorized', 'the sign-in link is not valid any more; ask for a new one');

/** Whether the browser that asked for the link is the one that opened it. */
export const isSameBrowser = (
  { browser_hash }: { browser_hash: string | null },
  nonce: string | undefined,
): boolean => browser_hash !== null && nonce !== undefined && browser_hash === tokenHash(nonce);
