import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { deletePasskey } from './delete-passkey.ts';
import { listPasskeys } from './list-passkeys.ts';
import { passkeyLoginOptions } from './passkey-login-options.ts';
import { passkeyLoginVerify } from './passkey-login-verify.ts';
import { passkeyRegisterOptions } from './passkey-register-options.ts';
import { passkeyRegisterVerify } from './passkey-register-verify.ts';

/** The operations on passkeys. */
export const passkeyOperations = (deps: Records & Terms & { sendMailsNow: () => void }) => ({
  deletePasskey: deletePasskey(deps),
  listPasskeys: listPasskeys(deps),
  passkeyLoginOptions: passkeyLoginOptions(deps),
  passkeyLoginVerify: passkeyLoginVerify(deps),
  passkeyRegisterOptions: passkeyRegisterOptions(deps),
  passkeyRegisterVerify: passkeyRegisterVerify(deps),
});
