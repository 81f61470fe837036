import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { inTraceOf } from '../lib/trace.ts';
import { type Bus, pingBus } from './connect.ts';
import { encode } from './envelope.ts';
import { inBusSpan, traceHeaders } from './trace.ts';

/**
 * Puts a message on its JetStream stream and waits for the server's word that it is stored. Inside
 * the duplicate window a repeat of the same id is dropped, even after the first was consumed: a
 * re-drive must carry a new id (docs/design/settle.md, rule 6).
 * @throws when the stream is full or away; the outbox keeps the row.
 */
export const publish = (
  bus: Bus,
  {
    subject,
    msgId,
    payload,
    traceparent = null,
  }: { subject: string; msgId: string; payload: unknown; traceparent?: string | null },
): Promise<void> =>
  // What a sweep publishes hours later belongs to the trace of the commit that it tells.
  inTraceOf(traceparent, () =>
    inBusSpan({ operation: 'send', destination: subject, kind: SpanKind.PRODUCER }, async (span) => {
      // The client would keep it and send it late, once more for every try meanwhile.
      if (!bus.connected) throw new Error('NATS is away');
      span.setAttribute('messaging.message.id', msgId);
      await bus.js.publish(subject, encode(payload), {
        msgID: msgId,
        headers: traceHeaders(),
        timeout: 5000,
      });
    }),
  );

/**
 * Whether the server answers this process now. A connection whose other end is gone looks like any
 * other until it is asked.
 */
export const reachesBus = async (bus: Bus, withinMs = 1000): Promise<boolean> => {
  if (!bus.connected) return false;
  const answered = pingBus(bus).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(withinMs, false, { ref: false })]);
};
