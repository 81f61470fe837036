import { closeAccount } from './close-account.ts';

/** The end of an account, which reaches into every other folder. */
export const closingOperations = (deps: Parameters<typeof closeAccount>[0]) => ({
  closeAccount: closeAccount(deps),
});
