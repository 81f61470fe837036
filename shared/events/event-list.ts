import type { Context } from '@opentelemetry/api';
import { decode } from '../bus/envelope.ts';
import type { Receiver } from '../bus/hand-over.ts';
import { contextOfHeaders } from '../bus/trace.ts';
import { contextOf } from '../lib/telemetry/trace.ts';

/**
 * A message has one payload, or a list of events of its subject that were published together, each
 * with the trace of its commit. A payload is an object, so a list is recognised by its form.
 */
export type Entry = { payload: unknown; traceparent?: string };

/** The messages of a row that are handed over to one receiver. */
export type Part = { receiver: Receiver; entries: readonly Entry[] };

/** The events of one message. It stays far below the size that the server accepts. */
export const MAX_EVENTS = 50;

type Row = { payload: unknown; traceparent: string | null };

/** The events of a row: one, or those of a row that is a list already. */
const entriesOf = ({ payload, traceparent }: Row): Entry[] =>
  Array.isArray(payload) ? (payload as Entry[]) : [{ payload, ...(traceparent !== null && { traceparent }) }];

/** The number of events of a row. */
export const countEvents = ({ payload }: Row): number => (Array.isArray(payload) ? payload.length : 1);

/** The payload of a message with the events of several rows. */
export const eventList = (rows: readonly Row[]): Entry[] => rows.flatMap(entriesOf);

/**
 * What is stored for several events as one row. The statement that inserts it says the same
 * (`inRows` of outbox.ts).
 */
export const listOf = (rows: readonly (Row & { msg_id: string })[]) => ({
  msg_id: `${rows[0]!.msg_id}+${rows.length - 1}`,
  payload: eventList(rows),
  traceparent: null,
});

/** A payload of a message, with the context in which it is handled. */
export type Received = { payload: unknown; received: Context | undefined };

/**
 * The payloads of a message, in their order.
 * @throws SyntaxError or TypeError if the bytes are no message
 */
export const payloadsOf = (
  bytes: Uint8Array,
  headers: Parameters<typeof contextOfHeaders>[0],
): Received[] => {
  const body = decode(bytes);
  if (!Array.isArray(body)) return [{ payload: body, received: contextOfHeaders(headers) }];
  return (body as Entry[]).map(({ payload, traceparent }) => ({
    payload,
    // The headers have the trace of the first event only.
    received: traceparent === undefined ? undefined : contextOf(traceparent),
  }));
};
