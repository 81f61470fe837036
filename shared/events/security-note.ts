import type { z } from 'zod';
import type { SecurityNote } from '../contract/identity/security-note.ts';
import type { Db } from '../db/pool.ts';
import { clientOfCall } from '../lib/call-client.ts';
import { newId } from '../lib/id.ts';
import { activeTraceparent } from '../lib/telemetry/trace.ts';
import { event, type Message } from './event.ts';
import { insertOutbox } from './outbox.ts';

type Note = Omit<z.infer<typeof SecurityNote>, 'security_event_id' | 'client'> &
  Partial<Pick<z.infer<typeof SecurityNote>, 'client'>>;
type Noting = 'settlement' | 'wallet' | 'funding' | 'webhook';

/**
 * The message by which a service notes something for the owner of an account. Insert it in the
 * transaction that makes the change.
 * @param note.client from where it was done; default: from where the active call came
 */
export const securityNote = (service: Noting, note: Note): Message =>
  event(
    `${service}.securityNoted`,
    { security_event_id: newId('sev'), client: clientOfCall(), ...note },
    { traceparent: activeTraceparent() },
  );

/** Writes a note of `securityNote`. The sweep of the outbox publishes it within seconds. */
export const insertSecurityNote = (tx: Db, service: Noting, note: Note): Promise<unknown> =>
  insertOutbox(tx, [securityNote(service, note)]);
