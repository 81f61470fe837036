import { randomUUID } from 'node:crypto';
import type { Receiver } from '../bus/hand-over.ts';
import {
  EACH_TIME,
  EVENT_IDENTITY,
  type EventName,
  type EventPayload,
  JOB_IDENTITY,
  type JobName,
  type JobPayload,
} from '../contract/events.ts';
import { type BusUser, subjects } from '../contract/service.ts';
import { sql } from '../db/pool.ts';

/**
 * A message for the outbox (outbox.ts): an event or a job, with the id by which its stream detects
 * a repeat.
 */
export type Message = {
  subject: string;
  msgId: string;
  payload: object;
  /**
   * The trace of the message, for a statement that serves several calls. Default: the active trace.
   */
  traceparent?: string | null;
  /** To whom it is handed over. It is published only if that fails. */
  receiver?: Receiver;
};

const split = (name: string) => name.split('.') as [BusUser, string];
export const eventSubject = (name: EventName): string => subjects.event(...split(name));
export const jobSubject = (name: JobName): string => subjects.job(...split(name));

const valueAt = (payload: object, field: string): unknown =>
  field.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null)?.[key], payload);

/**
 * `<name>:<identity>`. This is the only place that builds message ids, for TypeScript and for SQL.
 * At most one field of an identity is free text, so two identities never have the same id.
 */
const messageId = (name: string, parts: readonly unknown[]): string =>
  [name, ...parts.map((part) => part ?? '')].join(':');
/** The message id in SQL, for a record `event` whose identity columns are of type text. */
export const messageIdOfRecord = (name: EventName) =>
  sql.fragment`${`${name}:`} || ${sql.join(
    EVENT_IDENTITY[name].map((field) => sql.identifier(['event', field])),
    sql.fragment` || ':' || `,
  )}`;

/**
 * The message of an event. An unknown name or a wrong payload does not compile.
 * @param name `<service>.<event>`
 */
export const event = <N extends EventName>(
  name: N,
  payload: EventPayload<N>,
  options: Pick<Message, 'traceparent'> = {},
): Message => ({
  subject: eventSubject(name),
  msgId: messageId(
    name,
    EVENT_IDENTITY[name].map((field) => (field === EACH_TIME ? randomUUID() : valueAt(payload, field))),
  ),
  payload,
  ...options,
});

/**
 * The message of a job, by the same rules.
 * @param name `<service that executes it>.<job>`
 * @param dispatch the dispatch count of the job; each dispatch is a separate message
 */
export const job = <N extends JobName>(
  name: N,
  payload: JobPayload<N>,
  { dispatch, ...options }: Pick<Message, 'traceparent'> & { dispatch: number },
): Message => ({
  subject: jobSubject(name),
  msgId: messageId(name, [...JOB_IDENTITY[name].map((field) => valueAt(payload, field)), dispatch]),
  payload,
  ...options,
});
