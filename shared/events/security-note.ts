import type { z } from 'zod';
import type { SecurityNote } from '../contract/identity/security-note.ts';
import { newId } from '../lib/id.ts';
import { activeTraceparent } from '../lib/trace.ts';
import { event, type Message } from './event.ts';

type Note = Omit<z.infer<typeof SecurityNote>, 'security_event_id'>;

/**
 * The message by which a service notes something for the owner of an account. Insert it in the
 * transaction that makes the change.
 */
export const securityNote = (service: 'settlement', note: Note): Message =>
  event(
    `${service}.securityNoted`,
    { security_event_id: newId('sev'), ...note },
    { traceparent: activeTraceparent() },
  );
