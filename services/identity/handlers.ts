import type { identity } from '../../shared/contract/index.ts';
import type { operatorOperations } from '../../shared/contract/operator.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import type { Deps } from './deps.ts';
import { createAccount } from './handlers/createAccount.ts';
import { createDelegate } from './handlers/createDelegate.ts';
import { createService } from './handlers/createService.ts';
import { deleteDelegate } from './handlers/deleteDelegate.ts';
import { deletePasskey } from './handlers/deletePasskey.ts';
import { deleteService } from './handlers/deleteService.ts';
import { deleteSession } from './handlers/deleteSession.ts';
import { findKey } from './handlers/findKey.ts';
import { findService } from './handlers/findService.ts';
import { findSession } from './handlers/findSession.ts';
import { getAccount } from './handlers/getAccount.ts';
import { getAccountStatus } from './handlers/getAccountStatus.ts';
import { getDelegate } from './handlers/getDelegate.ts';
import { getOwnDelegate } from './handlers/getOwnDelegate.ts';
import { getService } from './handlers/getService.ts';
import { getSettings } from './handlers/getSettings.ts';
import { isFrozen } from './handlers/isFrozen.ts';
import { listAccountStatuses } from './handlers/listAccountStatuses.ts';
import { listDelegates } from './handlers/listDelegates.ts';
import { listPasskeys } from './handlers/listPasskeys.ts';
import { listServices } from './handlers/listServices.ts';
import { listSessions } from './handlers/listSessions.ts';
import { logout } from './handlers/logout.ts';
import { passkeyLoginOptions } from './handlers/passkeyLoginOptions.ts';
import { passkeyLoginVerify } from './handlers/passkeyLoginVerify.ts';
import { passkeyRegisterOptions } from './handlers/passkeyRegisterOptions.ts';
import { passkeyRegisterVerify } from './handlers/passkeyRegisterVerify.ts';
import { readMagicLink } from './handlers/readMagicLink.ts';
import { refresh } from './handlers/refresh.ts';
import { requestMagicLink } from './handlers/requestMagicLink.ts';
import { revealDelegateKey } from './handlers/revealDelegateKey.ts';
import { revealServiceKey } from './handlers/revealServiceKey.ts';
import { rotateDelegateKey } from './handlers/rotateDelegateKey.ts';
import { rotateServiceKey } from './handlers/rotateServiceKey.ts';
import { setFrozen } from './handlers/setFrozen.ts';
import { setLimitFactor } from './handlers/setLimitFactor.ts';
import { updateDelegate } from './handlers/updateDelegate.ts';
import { updateService } from './handlers/updateService.ts';
import { updateSettings } from './handlers/updateSettings.ts';
import { verifyDelegateReveal } from './handlers/verifyDelegateReveal.ts';
import { verifyMagicLink } from './handlers/verifyMagicLink.ts';
import { verifyServiceReveal } from './handlers/verifyServiceReveal.ts';

/** The service's own operations, for main.ts and for the test that serves them over a real bus. */
export const handlers = (deps: Deps): Omit<Handlers<typeof identity>, keyof typeof operatorOperations> => ({
  createAccount: createAccount(deps),
  requestMagicLink: requestMagicLink(deps),
  readMagicLink: readMagicLink(deps),
  verifyMagicLink: verifyMagicLink(deps),
  refresh: refresh(deps),
  logout: logout(deps),
  deletePasskey: deletePasskey(deps),
  deleteSession: deleteSession(deps),
  getAccount: getAccount(deps),
  getSettings: getSettings(deps),
  listPasskeys: listPasskeys(deps),
  listSessions: listSessions(deps),
  passkeyLoginOptions: passkeyLoginOptions(deps),
  passkeyLoginVerify: passkeyLoginVerify(deps),
  passkeyRegisterOptions: passkeyRegisterOptions(deps),
  passkeyRegisterVerify: passkeyRegisterVerify(deps),
  updateSettings: updateSettings(deps),
  createService: createService(deps),
  listServices: listServices(deps),
  getService: getService(deps),
  updateService: updateService(deps),
  deleteService: deleteService(deps),
  rotateServiceKey: rotateServiceKey(deps),
  revealServiceKey: revealServiceKey(deps),
  verifyServiceReveal: verifyServiceReveal(deps),
  createDelegate: createDelegate(deps),
  listDelegates: listDelegates(deps),
  getOwnDelegate: getOwnDelegate(deps),
  getDelegate: getDelegate(deps),
  updateDelegate: updateDelegate(deps),
  deleteDelegate: deleteDelegate(deps),
  rotateDelegateKey: rotateDelegateKey(deps),
  revealDelegateKey: revealDelegateKey(deps),
  verifyDelegateReveal: verifyDelegateReveal(deps),
  findKey: findKey(deps),
  findSession: findSession(deps),
  findService: findService(deps),
  isFrozen: isFrozen(deps),
  getAccountStatus: getAccountStatus(deps),
  listAccountStatuses: listAccountStatuses(deps),
  setFrozen: setFrozen(deps),
  setLimitFactor: setLimitFactor(deps),
});
