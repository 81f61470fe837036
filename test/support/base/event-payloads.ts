import type { Msg } from 'nats';
import { payloadsOf } from '../../../shared/events/event-list.ts';

/** The events of a message, whose number depends on how many were published together. */
export const eventPayloads = <T>({ data, headers }: Msg): T[] =>
  payloadsOf(data, headers).map(({ payload }) => payload as T);
