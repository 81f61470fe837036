import { SpanKind } from '@opentelemetry/api';
import type { Bus } from './connect.ts';
import { encode } from './envelope.ts';
import { inSpan, traceHeaders } from './trace.ts';

/**
 * Puts a message on its JetStream stream and waits for the server's word that it is stored. Inside the
 * duplicate window a repeat of the same id is dropped, even after the first was consumed: a re-drive must
 * carry a new id (docs/settle.md, rule 6).
 * @throws when the stream is full or away; the outbox keeps the row.
 */
export const publish = (
  bus: Bus,
  {
    subject,
    msgId,
    payload,
    traceparent,
  }: { subject: string; msgId: string; payload: unknown; traceparent?: string },
): Promise<void> =>
  inSpan({ operation: 'send', destination: subject, kind: SpanKind.PRODUCER }, async () => {
    // The client would keep it and send it late, once more for every try meanwhile.
    if (!bus.connected) throw new Error('NATS is away');
    const headers = traceHeaders(traceparent === undefined ? {} : { traceparent });
    await bus.js.publish(subject, encode(payload), { msgID: msgId, headers, timeout: 5000 });
  });
