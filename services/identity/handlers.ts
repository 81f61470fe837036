import type { identity } from '../../shared/contract/index.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import type { Deps } from './deps.ts';
import { createAccount } from './handlers/createAccount.ts';
import { createService } from './handlers/createService.ts';
import { findKey } from './handlers/findKey.ts';
import { findService } from './handlers/findService.ts';
import { findSession } from './handlers/findSession.ts';
import { getService } from './handlers/getService.ts';
import { listServices } from './handlers/listServices.ts';
import { logout } from './handlers/logout.ts';
import { refresh } from './handlers/refresh.ts';
import { requestMagicLink } from './handlers/requestMagicLink.ts';
import { verifyMagicLink } from './handlers/verifyMagicLink.ts';

/** All operations of the service, for main.ts and for the test that serves them over a real bus. */
export const handlers = (deps: Deps): Handlers<typeof identity> => ({
  createAccount: createAccount(deps),
  requestMagicLink: requestMagicLink(deps),
  verifyMagicLink: verifyMagicLink(deps),
  refresh: refresh(deps),
  logout: logout(deps),
  createService: createService(deps),
  listServices: listServices(deps),
  getService: getService(deps),
  findKey: findKey(deps),
  findSession: findSession(deps),
  findService: findService(deps),
});
