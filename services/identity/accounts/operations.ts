import { listSecurityEvents } from '../security/list-security-events.ts';
import { getAccount } from './get-account.ts';
import { getSettings } from './get-settings.ts';
import { isFrozen } from './is-frozen.ts';
import { noteExport } from './note-export.ts';
import { updateSettings } from './update-settings.ts';

/** The operations on accounts, for main.ts and for the tests that serve them over a real bus. */
export const accountOperations = (
  deps: Parameters<typeof getSettings>[0] &
    Parameters<typeof listSecurityEvents>[0] &
    Parameters<typeof noteExport>[0] &
    Parameters<typeof updateSettings>[0],
) => ({
  getAccount: getAccount(deps),
  getSettings: getSettings(deps),
  isFrozen: isFrozen(deps),
  listSecurityEvents: listSecurityEvents(deps),
  noteExport: noteExport(deps),
  updateSettings: updateSettings(deps),
});
