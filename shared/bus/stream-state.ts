import type { Bus } from './connect.ts';
import { decode } from './envelope.ts';
import type { Durable, STREAMS } from './topology.ts';

type StreamName = (typeof STREAMS)[keyof typeof STREAMS];

/** What a stream holds now. */
export type StreamState = {
  /** ISO 8601. A server that lost its data has a stream with another time. */
  createdAt: string;
  /** The number of the oldest message that it holds. One more than `lastSeq`: it is empty. */
  firstSeq: number;
  /** The number of the newest message that it ever had. */
  lastSeq: number;
  bytes: number;
  maxBytes: number;
};

/** How far a durable consumer is. */
export type DurableState = {
  /** Every message of its subject up to this number was acknowledged. */
  handledSeq: number;
  /** Messages of its subject that were not delivered, or not acknowledged. */
  waiting: number;
};

type Answer<T> = T & { error?: { description: string } };

const ask = async <T>(bus: Bus, subject: string): Promise<T> => {
  const reply = await bus.nc.request(`$JS.API.${subject}`, new Uint8Array(), { timeout: 5000 });
  const answer = decode(reply.data) as Answer<T>;
  if (answer.error !== undefined) throw new Error(`${subject}: ${answer.error.description}`);
  return answer;
};

/** @throws if the server does not answer, or has no such stream */
export const readStream = async (bus: Bus, stream: StreamName): Promise<StreamState> => {
  const { created, state, config } = await ask<{
    created: string;
    state: { first_seq: number; last_seq: number; bytes: number };
    config: { max_bytes: number };
  }>(bus, `STREAM.INFO.${stream}`);
  return {
    createdAt: created,
    firstSeq: state.first_seq,
    lastSeq: state.last_seq,
    bytes: state.bytes,
    maxBytes: config.max_bytes,
  };
};

/** @throws if the server does not answer, or has no such consumer */
export const readDurable = async (bus: Bus, { stream, durable }: Durable): Promise<DurableState> => {
  const { ack_floor, num_pending, num_ack_pending } = await ask<{
    ack_floor: { stream_seq: number };
    num_pending: number;
    num_ack_pending: number;
  }>(bus, `CONSUMER.INFO.${stream}.${durable}`);
  return { handledSeq: ack_floor.stream_seq, waiting: num_pending + num_ack_pending };
};
