import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { inTraceOf, linksTo } from '../lib/telemetry/trace.ts';
import { type Bus, pingBus } from './connect.ts';
import { encode } from './envelope.ts';
import { inBusSpan, traceHeaders } from './trace.ts';

/**
 * Publishes a message to its JetStream stream and waits until the server has stored it. Within the
 * duplicate window a repeat of the same id is dropped, even after the first message was consumed. A
 * job that is dispatched again therefore has a new id (docs/design/settle.md, rule 6).
 * @throws if the stream is full or unavailable; the row stays in the outbox
 */
export const publish = (
  bus: Bus,
  {
    subject,
    msgId,
    payload,
    traceparent = null,
    otherTraces = [],
  }: {
    subject: string;
    msgId: string;
    payload: unknown;
    traceparent?: string | null;
    /** The traces of the further events of a message that has several. */
    otherTraces?: readonly (string | null)[];
  },
): Promise<void> =>
  // A message that a sweep publishes hours later belongs to the trace of its commit.
  inTraceOf(traceparent, () =>
    inBusSpan({ operation: 'send', destination: subject, kind: SpanKind.PRODUCER }, async (span) => {
      // Without a connection the client would buffer the message and send every retry later.
      if (!bus.connected) throw new Error('NATS is unavailable; the message stays in the outbox');
      span.setAttribute('messaging.message.id', msgId);
      span.addLinks(linksTo(otherTraces));
      await bus.js.publish(subject, encode(payload), {
        msgID: msgId,
        headers: traceHeaders(),
        timeout: 5000,
      });
    }),
  );

/**
 * Whether the server answers this process now. A broken connection can look open until a request
 * fails.
 */
export const reachesBus = async (bus: Bus, withinMs = 1000): Promise<boolean> => {
  if (!bus.connected) return false;
  const answered = pingBus(bus).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(withinMs, false, { ref: false })]);
};
