import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type LinkRequester, requestMagicLink } from './request-magic-link.ts';

/**
 * POST /v1/accounts: the same as requesting a sign-in link, because the first sign-in creates the
 * account.
 */
export const createAccount: (deps: LinkRequester) => Handler<typeof identity.operations.createAccount> =
  requestMagicLink;
