import { deletePasskey } from './delete-passkey.ts';
import { listPasskeys } from './list-passkeys.ts';
import { passkeyLoginOptions } from './passkey-login-options.ts';
import { passkeyLoginVerify } from './passkey-login-verify.ts';
import { passkeyRegisterOptions } from './passkey-register-options.ts';
import { passkeyRegisterVerify } from './passkey-register-verify.ts';

/** The operations on passkeys, for main.ts and for the tests that serve them over a real bus. */
export const passkeyOperations = (
  deps: Parameters<typeof listPasskeys>[0] & Parameters<typeof passkeyLoginVerify>[0],
) => ({
  deletePasskey: deletePasskey(deps),
  listPasskeys: listPasskeys(deps),
  passkeyLoginOptions: passkeyLoginOptions(deps),
  passkeyLoginVerify: passkeyLoginVerify(deps),
  passkeyRegisterOptions: passkeyRegisterOptions(deps),
  passkeyRegisterVerify: passkeyRegisterVerify(deps),
});
