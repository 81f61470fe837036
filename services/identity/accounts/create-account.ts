import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { requestMagicLink } from '../sessions/request-magic-link.ts';

/** POST /v1/accounts: the same as asking for a link, because the first sign-in creates the account. */
export const createAccount: (deps: Deps) => Handler<typeof identity.operations.createAccount> =
  requestMagicLink;
