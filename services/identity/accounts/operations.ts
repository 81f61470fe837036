import type { Records } from '../../../shared/boot.ts';
import type { Peers } from '../peers.ts';
import { listSecurityEvents } from '../security/list-security-events.ts';
import type { Terms } from '../terms.ts';
import { getAccount } from './get-account.ts';
import { getSettings } from './get-settings.ts';
import { isFrozen } from './is-frozen.ts';
import { noteExport } from './note-export.ts';
import { updateSettings } from './update-settings.ts';

/** The operations on accounts. */
export const accountOperations = (deps: Records & Terms & Peers & { sendMailsNow: () => void }) => ({
  getAccount: getAccount(deps),
  getSettings: getSettings(deps),
  isFrozen: isFrozen(deps),
  listSecurityEvents: listSecurityEvents(deps),
  noteExport: noteExport(deps),
  updateSettings: updateSettings(deps),
});
