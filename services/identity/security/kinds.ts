import { SECURITY_EVENT_KINDS, type SecurityEventKind } from '../../../shared/contract/identity/security.ts';

const kinds: ReadonlySet<string> = new Set(SECURITY_EVENT_KINDS);
export const isSecurityEvent = (kind: string): kind is SecurityEventKind => kinds.has(kind);

/** The events that are recorded and not mailed. */
const UNMAILED: readonly SecurityEventKind[] = ['signed_in'];
export const isMailed = (kind: string): boolean => !UNMAILED.some((each) => each === kind);

/**
 * Whether an event is mailed whatever the settings are: what a thief does first, because he would
 * turn mails off before.
 */
export const isAlwaysMailed = ({
  kind,
  details,
}: {
  kind: string;
  details: Record<string, string>;
}): boolean => kind === 'account_limits_changed' && details.raised === 'yes';
