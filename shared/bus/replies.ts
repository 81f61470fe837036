import { randomFillSync } from 'node:crypto';
import { ErrorCode, type Msg, type MsgHdrs, type NatsConnection, NatsError } from 'nats';
import type { BusUser } from '../contract/service.ts';

type Pending = {
  requestSubject: string;
  settle: (error: NatsError | null, msg: Msg) => void;
};

/** The requests of one connection that wait for their answers. */
export type Replies = {
  /**
   * Publishes a request and resolves with its answer.
   * @throws NatsError if nobody answers in time, or if the server refuses the request
   */
  request: (
    to: { responder: BusUser; subject: string },
    data: Uint8Array,
    options: { timeoutMs: number; headers: MsgHdrs },
  ) => Promise<Msg>;
  /** Ends the requests on a subject that the server has refused. */
  refuse: (subject: string, error: NatsError) => void;
};

const TOKEN_BYTES = 16;
/** Random bytes for many tokens, because each call of the generator costs 2 µs. */
const randoms = Buffer.alloc(256 * TOKEN_BYTES);
let next = randoms.length;

/** 128 random bits in the alphabet of a subject. */
const randomToken = (): string => {
  if (next === randoms.length) {
    randomFillSync(randoms);
    next = 0;
  }
  next += TOKEN_BYTES;
  return randoms.toString('base64url', next - TOKEN_BYTES, next);
};

/** The server answers so if nobody subscribes to the subject of a request. */
const isUnanswered = (msg: Msg): boolean => msg.data.length === 0 && msg.headers?.code === 503;

/**
 * Requests with an inbox for each responder. The library uses one inbox for all responders, with
 * reply names that can be predicted from two earlier ones. So one service could answer a request
 * that was sent to another. Here only the responder may publish into the inbox (`natsRights`), and
 * only an answer to the random name of an open request is accepted (docs/adr/0064). There is one
 * subscription for each responder, and none for a request.
 * @param prefix the inbox prefix of the caller
 */
export const createReplies = (nc: NatsConnection, prefix: string): Replies => {
  const pending = new Map<string, Pending>();
  const inboxes = new Map<BusUser, string>();

  const endAll = (error: NatsError, which: (reply: string, request: Pending) => boolean): void => {
    for (const [reply, request] of pending) if (which(reply, request)) request.settle(error, {} as Msg);
  };

  const openInbox = (responder: BusUser): string => {
    const inbox = `${prefix}.${responder}.${randomToken()}`;
    nc.subscribe(`${inbox}.*`, {
      callback: (error, msg) => {
        if (error === null) {
          const unanswered = isUnanswered(msg) ? NatsError.errorForCode(ErrorCode.NoResponders) : null;
          pending.get(msg.subject)?.settle(unanswered, msg);
          return;
        }
        // The library has removed the refused subscription. The next request opens another one.
        inboxes.delete(responder);
        endAll(error, (reply) => reply.startsWith(`${inbox}.`));
      },
    });
    inboxes.set(responder, inbox);
    return inbox;
  };

  void nc.closed().then(() => endAll(NatsError.errorForCode(ErrorCode.ConnectionClosed), () => true));

  return {
    request: ({ responder, subject }, data, { timeoutMs, headers }) =>
      new Promise((resolve, reject) => {
        const reply = `${inboxes.get(responder) ?? openInbox(responder)}.${randomToken()}`;
        const settle: Pending['settle'] = (error, msg) => {
          clearTimeout(timer);
          pending.delete(reply);
          if (error === null) resolve(msg);
          else reject(error);
        };
        const timer = setTimeout(
          () => settle(NatsError.errorForCode(ErrorCode.Timeout), {} as Msg),
          timeoutMs,
        );
        pending.set(reply, { requestSubject: subject, settle });
        try {
          nc.publish(subject, data, { reply, headers });
        } catch (error) {
          settle(error as NatsError, {} as Msg);
        }
      }),
    refuse: (subject, error) => endAll(error, (_reply, { requestSubject }) => requestSubject === subject),
  };
};
