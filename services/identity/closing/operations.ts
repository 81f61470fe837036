import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { closeAccount } from './close-account.ts';

/** The end of an account, which reaches into every other folder. */
export const closingOperations = (deps: Records & Terms & Peers & { sendMailsNow: () => void }) => ({
  closeAccount: closeAccount(deps),
});
