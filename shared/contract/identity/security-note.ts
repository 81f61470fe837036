import { z } from 'zod';
import { Client } from '../client.ts';
import { AccountId } from '../primitives.ts';
import { SECURITY_EVENT_KINDS, SecurityEventId } from './security-kinds.ts';

/**
 * What a service notes for the owner of an account. identity records it once by its id, and mails
 * what an owner must hear of. `details` are values that the owner knows and never a secret.
 */
export const SecurityNote = z.strictObject({
  security_event_id: SecurityEventId,
  account_id: AccountId,
  kind: z.enum(SECURITY_EVENT_KINDS),
  details: z.record(z.string(), z.string()),
  /** Null: the call that did it did not come from outside. */
  client: Client.nullable(),
});
