import { randomUUID } from 'node:crypto';
import type { Bus } from '../../../shared/bus/connect.ts';
import { publish } from '../../../shared/bus/publish.ts';
import type { EventName, EventPayload } from '../../../shared/contract/events.ts';
import { event } from '../../../shared/events/event.ts';

/** Publishes an event with a new message id, so that the stream drops no repeat. */
export const publishEvent = <N extends EventName>(
  bus: Bus,
  name: N,
  payload: EventPayload<N>,
): Promise<void> => publish(bus, { ...event(name, payload), msgId: randomUUID() });
