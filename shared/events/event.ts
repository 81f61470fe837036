import { randomUUID } from 'node:crypto';
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
 * A message for the outbox (outbox.ts): an event or a job, with the id by which its stream knows a
 * repeat.
 */
export type Message = {
  subject: string;
  msgId: string;
  payload: object;
  /**
   * The trace it belongs to, where a statement serves several calls; else the one that inserts it.
   */
  traceparent?: string | null;
};

const split = (name: string) => name.split('.') as [BusUser, string];
export const eventSubject = (name: EventName): string => subjects.event(...split(name));
export const jobSubject = (name: JobName): string => subjects.job(...split(name));

const valueAt = (payload: object, field: string): unknown =>
  field.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null)?.[key], payload);

/**
 * `<name>:<its identity>`: the one place that makes message ids, for rows made by TypeScript and by
 * a statement. One field of an identity at most is free text, so two identities are never one id.
 */
const messageId = (name: string, parts: readonly unknown[]): string =>
  [name, ...parts.map((part) => part ?? '')].join(':');
/** The same of a record `event` of a statement, whose identity are columns of type text. */
export const messageIdOfRecord = (name: EventName) =>
  sql.fragment`${`${name}:`} || ${sql.join(
    EVENT_IDENTITY[name].map((field) => sql.identifier(['event', field])),
    sql.fragment` || ':' || `,
  )}`;

/**
 * The message of an event. A name or a payload that the contract does not have does not compile.
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
 * @param name `<service that carries it out>.<job>`
 * @param dispatch how often the job was sent before or is now; another one is another message
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
