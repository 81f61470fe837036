import { SpanKind } from '@opentelemetry/api';
import { ErrorCode, type Msg, NatsError } from 'nats';
import { type ServiceName, subjects } from '../contract/service.ts';
import type { LaneOwner } from '../lib/lane.ts';
import { inTraceOf } from '../lib/telemetry/trace.ts';
import { type Bus, track } from './connect.ts';
import { encode, openReply, toErrorReply } from './envelope.ts';
import { replyInbox } from './topology.ts';
import { inBusSpan, traceHeaders } from './trace.ts';

/** The replica that hands something over, and that waits for what becomes of it. */
const FROM = 'Quittance-Replica';

/**
 * A receiver that is slow under load must not get everything twice, so the wait is long. The end of
 * a receiver is noticed earlier: the next hand-over to it finds nobody. The sweep (rule 16) waits
 * for neither.
 */
const ANSWERED_WITHIN_MS = 30_000;

/** Who accepts a job or an event of this name: the owner of a lane, or a replica. */
export type Receiver = {
  service: LaneOwner;
  name: string;
  receiver: number | string;
};

export const receiverSubject = ({ service, name, receiver }: Receiver): string =>
  subjects.handedOver(service, name, receiver);

/** The subject without the receiver, because metrics have no label for each replica. */
export const destinationOf = ({ service, name }: Receiver): string => subjects.handedOver(service, name, '*');

const isNobody = (error: unknown): error is NatsError =>
  error instanceof NatsError && error.code === ErrorCode.NoResponders;

/** Whether a receiver got a payload and did not answer in time. */
export const isSilence = (error: unknown): boolean =>
  error instanceof NatsError && error.code === ErrorCode.Timeout;

/** The trace of a payload, and how long its receiver may take. */
type Sending = { traceparent: string | null; answeredWithinMs?: number };

/**
 * Hands a payload over to a process, and resolves when it has handled it.
 * @throws NatsError or ServiceError if nobody answers, or the receiver fails. It may have handled
 *   the payload all the same
 */
export const handOver = (
  bus: Bus,
  receiver: Receiver,
  payload: unknown,
  { traceparent, answeredWithinMs = ANSWERED_WITHIN_MS }: Sending,
): Promise<void> =>
  inTraceOf(traceparent, () =>
    inBusSpan(
      { operation: 'send', destination: destinationOf(receiver), kind: SpanKind.PRODUCER },
      async () => {
        if (!bus.connected) throw new Error('NATS is unavailable; the message stays in the outbox');
        const to = { responder: receiver.service, subject: receiverSubject(receiver) };
        try {
          const reply = await bus.replies.request(to, encode(payload), {
            timeoutMs: answeredWithinMs,
            headers: traceHeaders({ [FROM]: bus.replicaId }),
          });
          openReply(reply.data);
        } catch (error) {
          // Who got the earlier ones is gone, and will not answer them.
          if (isNobody(error)) bus.replies.refuse(to.subject, error);
          throw error;
        }
      },
    ),
  );

/**
 * Accepts what is handed over on a subject. Replicas with the same subject share it. It is answered
 * when its handler has committed its effects.
 * @param from the service that may hand over
 * @param handle gets the message and the name of the replica that handed it over
 */
export const acceptHandOver = (
  bus: Bus,
  receiver: Receiver,
  from: ServiceName,
  handle: (msg: Msg, replicaId: string | undefined) => Promise<void>,
): { stop: () => Promise<void> } => {
  const { service } = receiver;
  const subject = receiverSubject(receiver);
  const inbox = `${replyInbox(from, service)}.`;
  const answer = async (msg: Msg): Promise<void> => {
    try {
      await handle(msg, msg.headers?.get(FROM) || undefined);
      msg.respond(encode({ ok: null }));
    } catch (error) {
      bus.logger.warn({ err: error, subject }, 'not accepted, left to the stream');
      msg.respond(encode(toErrorReply(error)));
    }
  };
  const subscription = bus.nc.subscribe(subject, {
    queue: service,
    callback: (error, msg) => {
      if (error !== null) bus.logger.error({ err: error }, 'subscription failed');
      else if (msg.reply?.startsWith(inbox) === true) track(bus, answer(msg));
      else bus.logger.error({ operation: msg.subject }, 'refused: its reply is no inbox of a caller');
    },
  });
  return { stop: () => subscription.drain() };
};
