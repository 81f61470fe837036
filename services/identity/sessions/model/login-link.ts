import { ServiceError } from '../../../../shared/contract/errors.ts';
import { tokenHash } from './tokens.ts';

/**
 * One message for an unknown, used, expired or replaced link, so that a caller cannot tell them
 * apart.
 */
export const invalidLink = (): ServiceError =>
  new ServiceError('unauthorized', 'the sign-in link is not valid any more; request a new one');

/** Whether the browser that requested the link also opened it. */
export const isSameBrowser = (
  { browser_hash }: { browser_hash: string | null },
  nonce: string | undefined,
): boolean => browser_hash !== null && nonce !== undefined && browser_hash === tokenHash(nonce);
