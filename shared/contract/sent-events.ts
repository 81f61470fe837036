import { z } from 'zod';
import { Timestamp } from './primitives.ts';
import { internalOperation, type ServiceName } from './service.ts';

/**
 * How long an event can come: the stream keeps it so long (shared/bus/setup.ts), and so does its
 * publisher (shared/events/sent-events.ts). Who must not do something twice remembers it longer.
 */
export const EVENT_DAYS = 7;

/**
 * The way back to the events of a service, for those that consume them.
 * @param callers the services that name one of its events in `consumes` (test/contract.test.ts)
 */
export const listSentEvents = (callers: readonly ServiceName[]) =>
  internalOperation({
    summary: `Published events of the last ${EVENT_DAYS} days that the caller consumes, oldest first, if it may have missed some`,
    callers,
    namesCaller: true,
    input: z.strictObject({
      /** When the first one was published. */
      since: Timestamp,
      /** `next` of the page before. Null: the first page. */
      after: z.string().regex(/^\d+$/).nullable(),
    }),
    output: z.strictObject({
      events: z.array(z.strictObject({ subject: z.string(), payload: z.unknown() })),
      /** Null: there are no more. */
      next: z.string().nullable(),
    }),
  });
