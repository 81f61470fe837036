import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from 'nats';
import type { BusUser } from '../contract/service.ts';
import type { Bus } from './connect.ts';
import type { Durable } from './topology.ts';

/** A message of a stream. It is acknowledged, or refused so that it is delivered again. */
export type Delivery = JsMsg;

const BATCH = 128;
/**
 * A server that leads a consumer may end while the client is connected to another one. The client
 * notices that two heartbeats are missing and asks again, and after a failed question it waits for
 * the expiry of a pull. With the client's defaults of 15 and 30 s a lost leader cost up to 40 s.
 * The server refuses a heartbeat of more than half the expiry. Every heartbeat and pull wakes an
 * idle process, and most services have consumers that nobody waits for.
 */
const PACES = {
  waitedFor: { idle_heartbeat: 2000, expires: 5000 },
  background: { idle_heartbeat: 10_000, expires: 25_000 },
} as const;
/** The services for whose messages the caller of a payment waits. */
const WAITED_FOR: readonly BusUser[] = ['settlement', 'chain-submitter'];
const MAX_REDELIVERY_DELAY_MS = 15_000;

/** Logs the failure of a message, and has it delivered again later. */
export const refuse = ({ logger }: Bus, msg: Delivery, error: unknown): void => {
  const { subject, info } = msg;
  logger.error({ err: error, subject, deliveries: info.redeliveryCount }, 'message failed');
  msg.nak(Math.min(MAX_REDELIVERY_DELAY_MS, 250 * 2 ** Math.min(info.redeliveryCount, 6)));
};

/** Passes each message of a durable consumer to `accept`. */
export const pull = (
  bus: Bus,
  { stream, durable }: Durable,
  accept: (msg: Delivery) => void,
): { stop: () => Promise<void> } => {
  let stopping = false;
  let current: ConsumerMessages | undefined;
  const loop = async () => {
    while (!stopping) {
      try {
        const consumer = await bus.js.consumers.get(stream, durable);
        // abort_on_missing_resource: a server without its data has no such consumer until the
        // set-up job creates it.
        current = await consumer.consume({
          max_messages: BATCH,
          ...PACES[WAITED_FOR.includes(bus.user) ? 'waitedFor' : 'background'],
          abort_on_missing_resource: true,
        });
        for await (const msg of current) accept(msg);
      } catch (error) {
        if (!stopping) bus.logger.warn({ err: error, stream, durable }, 'consumer lost, trying again');
      }
      if (!stopping) await sleep(500);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      await current?.close();
      await running;
      await Promise.allSettled(bus.inFlight);
    },
  };
};
