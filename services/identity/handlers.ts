import type { identity } from '../../shared/contract/index.ts';
import type { operatorOperations } from '../../shared/contract/operator.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import { createAccount } from './accounts/create-account.ts';
import { getAccount } from './accounts/get-account.ts';
import { getSettings } from './accounts/get-settings.ts';
import { isFrozen } from './accounts/is-frozen.ts';
import { updateSettings } from './accounts/update-settings.ts';
import { createDelegate } from './delegates/create-delegate.ts';
import { deleteDelegate } from './delegates/delete-delegate.ts';
import { getDelegate } from './delegates/get-delegate.ts';
import { getOwnDelegate } from './delegates/get-own-delegate.ts';
import { listDelegates } from './delegates/list-delegates.ts';
import { updateDelegate } from './delegates/update-delegate.ts';
import type { Deps } from './deps.ts';
import { findKey } from './keys/find-key.ts';
import { revealDelegateKey } from './keys/reveal-delegate-key.ts';
import { revealServiceKey } from './keys/reveal-service-key.ts';
import { rotateDelegateKey } from './keys/rotate-delegate-key.ts';
import { rotateServiceKey } from './keys/rotate-service-key.ts';
import { verifyDelegateReveal } from './keys/verify-delegate-reveal.ts';
import { verifyServiceReveal } from './keys/verify-service-reveal.ts';
import { listStandings } from './operator/list-standings.ts';
import { setFrozen } from './operator/set-frozen.ts';
import { setLimitFactor } from './operator/set-limit-factor.ts';
import { showStanding } from './operator/show-standing.ts';
import { deletePasskey } from './passkeys/delete-passkey.ts';
import { listPasskeys } from './passkeys/list-passkeys.ts';
import { passkeyLoginOptions } from './passkeys/passkey-login-options.ts';
import { passkeyLoginVerify } from './passkeys/passkey-login-verify.ts';
import { passkeyRegisterOptions } from './passkeys/passkey-register-options.ts';
import { passkeyRegisterVerify } from './passkeys/passkey-register-verify.ts';
import { createService } from './services/create-service.ts';
import { deleteService } from './services/delete-service.ts';
import { findService } from './services/find-service.ts';
import { getService } from './services/get-service.ts';
import { listServices } from './services/list-services.ts';
import { updateService } from './services/update-service.ts';
import { deleteSession } from './sessions/delete-session.ts';
import { findSession } from './sessions/find-session.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { logout } from './sessions/logout.ts';
import { readMagicLink } from './sessions/read-magic-link.ts';
import { refresh } from './sessions/refresh.ts';
import { requestMagicLink } from './sessions/request-magic-link.ts';
import { verifyMagicLink } from './sessions/verify-magic-link.ts';

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
  showStanding: showStanding(deps),
  listStandings: listStandings(deps),
  setFrozen: setFrozen(deps),
  setLimitFactor: setLimitFactor(deps),
});
