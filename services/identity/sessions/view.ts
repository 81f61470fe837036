import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { ListedSession } from './store/sessions.ts';

type Sessions = z.infer<typeof identity.operations.listSessions.output>['data'];

const METHODS = ['passkey', 'device'] as const;

/** A sign-in as its owner reads it. */
export const showSession = (
  { session_id, amr, client_name, signed_in_at, rotated_at, expires_at, open, delegates }: ListedSession,
  currentSessionId: string,
): Sessions[number] => ({
  session_id,
  current: session_id === currentSessionId,
  open,
  method: METHODS.find((method) => amr.includes(method)) ?? 'email',
  client_name,
  signed_in_at: isoTime(signed_in_at),
  last_refreshed_at: isoTime(rotated_at),
  expires_at: isoTime(expires_at),
  delegates,
});
