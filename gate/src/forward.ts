import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../../sdk/src/vendor/admission.ts';
import { isDelivered } from '../../sdk/src/vendor/answers.ts';
import { captureNode } from '../../sdk/src/vendor/node.ts';
import { refuseWith } from './answers.ts';
import type { FreeCall } from './free-calls.ts';
import { answerHeaders, answerTrailers, requestTrailers } from './headers.ts';
import { type AnswerPrice, createFirstPart, createLeaving, type Leaving, rememberAnswer } from './metered.ts';
import type { RequestBody } from './request-body.ts';
import type { Upstream } from './upstream.ts';

/** One request on its way to the upstream, and the answer on its way back. */

type Delivery = Extract<Admission, { kind: 'deliver' }>;

/** Each cuts one open call off, because the time to drain is over. */
export type Cuts = Set<() => Promise<void>>;

type Forwarding = {
  cuts: Cuts;
  upstream: Upstream;
  timeouts: { connectMs: number; answerMs: number; idleMs: number };
  storedBytes: number;
};
type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  target: string;
  headers: string[];
  body: RequestBody;
  /** Null: the request is free. */
  delivery: Delivery | null;
  /** Null: the request is paid, or its route is free. */
  freeCall: FreeCall | null;
  /** Null: the request is of no metered route. */
  answerPrice: AnswerPrice | null;
};

/** How a forwarded request has ended, for log and metrics. */
type Ended = {
  /** Null: no answer came. */
  upstreamStatus: number | null;
  bytes: number;
  fault:
    | 'upstream_unreachable'
    | 'upstream_timeout'
    | 'upstream_broken'
    | 'client_disconnected'
    | 'authorization_ended'
    | 'gate_ended'
    | null;
};
type Fault = NonNullable<Ended['fault']>;

/** How long a paid answer is read on for a buyer who has disconnected. */
const GRACE_MS = 30_000;
/** Repeating these changes nothing (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

class UpstreamFault extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault);
    this.fault = fault;
  }
}

const STATUSES: Record<Fault, 502 | 503 | 504> = {
  upstream_unreachable: 502,
  upstream_timeout: 504,
  upstream_broken: 502,
  client_disconnected: 502,
  authorization_ended: 503,
  gate_ended: 503,
};

const faultOf = (error: Error): Fault =>
  error instanceof UpstreamFault ? error.fault : 'upstream_unreachable';

/** True if what was authorized for a call has ended, so that nothing more may be delivered. */
const isStopped = (delivery: Delivery | null): boolean =>
  ![undefined, null, 'gone'].includes(delivery?.metering?.stopped());

/** Sends the body with its trailers. */
const sendBody = ({ beginning, rest }: RequestBody, asked: ClientRequest, request: IncomingMessage): void => {
  if (rest === null) {
    if (beginning.length > 0) asked.end(beginning);
    else asked.end();
    return;
  }
  if (beginning.length > 0) asked.write(beginning);
  // The trailers are known at the end of the body, so the pipe does not end the request.
  rest.pipe(asked, { end: false });
  rest.once('end', () => {
    const trailers = requestTrailers(request.rawTrailers);
    if (trailers.length > 0) asked.addTrailers(trailers);
    asked.end();
  });
};

/** True if a server had closed an idle connection, and the request can be sent on another one. */
const mayRepeat = (asked: ClientRequest, { body, request }: Call): boolean =>
  asked.reusedSocket && body.rest === null && IDEMPOTENT.has(request.method!);

/** The time within which the next step must come. */
const createDeadline = (onEnd: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  const clear = () => clearTimeout(timer);
  return {
    set: (ms: number) => {
      clear();
      timer = setTimeout(onEnd, ms);
    },
    clear,
  };
};

/**
 * Begins the request at the upstream.
 * @returns the request, after the answer's first line or with the fault
 */
const ask = (
  { upstream, timeouts }: Forwarding,
  call: Call,
  onAsked: (asked: ClientRequest) => void,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { request, response, target: path, headers, body } = call;
    const asked = upstream.send({ method: request.method!, path, headers });
    onAsked(asked);
    const deadline = createDeadline(() => asked.destroy(new UpstreamFault('upstream_timeout')));
    asked.once('socket', (socket) => {
      if (!socket.connecting) return;
      deadline.set(timeouts.connectMs);
      socket.once('connect', deadline.clear);
    });
    // The agent sets it: no byte has come or gone for a while.
    asked.once('timeout', () => asked.destroy(new UpstreamFault('upstream_timeout')));
    asked.once('finish', () => deadline.set(timeouts.answerMs));
    asked.on('information', ({ statusCode, headers: early }) => {
      if (statusCode === 103 && !response.headersSent && request.httpVersionMinor > 0)
        response.writeEarlyHints(early as Record<string, string>);
    });
    asked.once('response', (answer) => {
      deadline.clear();
      resolve(answer);
    });
    asked.on('error', (error) => {
      deadline.clear();
      reject(error);
    });
    // Only a request to upgrade may be answered by one.
    asked.once('upgrade', (_answer, socket) => {
      socket.destroy();
      deadline.clear();
      reject(new UpstreamFault('upstream_broken'));
    });
    sendBody(body, asked, request);
  });

/** Asks, and asks again if an idle connection was closed at that moment. */
const askOnce = async (
  forwarding: Forwarding,
  call: Call,
  onAsked: (asked: ClientRequest) => void,
): Promise<IncomingMessage> => {
  let last: ClientRequest | undefined;
  const remember = (asked: ClientRequest) => {
    last = asked;
    onAsked(asked);
  };
  try {
    return await ask(forwarding, call, remember);
  } catch (error) {
    const isClosed = ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (!isClosed || !mayRepeat(last!, call) || call.response.destroyed) throw error;
    return ask(forwarding, call, remember);
  }
};

/**
 * Passes the answer on with its trailers, as fast as the client reads.
 * @returns the bytes, and the fault if it was not whole
 */
const pass = (
  answer: IncomingMessage,
  { response, request, delivery }: Call,
  leaving: Leaving,
  storedBytes: number,
): Promise<Pick<Ended, 'bytes' | 'fault'>> =>
  new Promise((resolve) => {
    let bytes = 0;
    let isGone = false;
    let grace: NodeJS.Timeout | undefined;
    const end = (fault: Ended['fault']) => {
      clearTimeout(grace);
      resolve({ bytes, fault });
    };
    const goneFault = (): Fault => (isStopped(delivery) ? 'authorization_ended' : 'client_disconnected');
    /** The client has gone. A paid answer is read on for a repeat, unless it is too long. */
    const leave = () => {
      // What was delivered of a metered answer is charged, and there is no repeat of it.
      if (delivery === null || delivery.isRepeatable || delivery.metering !== null) return answer.destroy();
      if (bytes <= storedBytes) return answer.resume();
      void delivery.finish(null);
      return answer.destroy();
    };
    const parts = createFirstPart(delivery, (chunk) => {
      const isTaken = response.write(chunk);
      if (isGone) leave();
      else if (!isTaken) answer.pause();
    });
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      parts.add(chunk);
    });
    response.on('drain', () => answer.resume());
    const onGone = () => {
      // A meter that stops ends the response before the answer has ended.
      if (response.writableFinished && answer.complete) return;
      isGone = true;
      grace = setTimeout(() => answer.destroy(), GRACE_MS);
      grace.unref();
      leave();
    };
    if (response.destroyed) onGone();
    else response.once('close', onGone);
    answer.once('end', () => {
      if (!answer.complete) return;
      const trailers = answerTrailers(answer.rawTrailers);
      if (trailers.length > 0 && request.httpVersionMinor > 0) response.addTrailers(trailers);
      response.end(parts.rest());
      end(isGone ? goneFault() : null);
    });
    // `close` follows it, which decides.
    answer.on('error', () => undefined);
    answer.once('close', () => {
      if (answer.complete) return;
      parts.rest();
      if (isGone) return end(goneFault());
      // A client that has stopped reading may have caused it, so that one gets no second answer.
      if (response.writableNeedDrain) leaving.owes();
      else {
        leaving.owesNothing();
        void delivery?.finish('failed');
      }
      response.destroy();
      end('upstream_broken');
    });
  });

/**
 * Begins the delivery of a call.
 * @param stop ends the call at the upstream
 */
const beginDelivery = (
  { response }: Call,
  delivery: Delivery,
  { leaving, storedBytes, stop }: { leaving: Leaving; storedBytes: number; stop: () => void },
): void => {
  // Before the listener of the paywall, after which nothing can be charged.
  response.once('close', leaving.owes);
  captureNode(response, delivery, storedBytes);
  delivery.metering?.meter.signal.addEventListener('abort', () => {
    if (isStopped(delivery) && !response.headersSent) stop();
  });
};

const forwardOpen = async (
  forwarding: Forwarding,
  call: Call,
  leaving: Leaving,
  onAsked: (asked: ClientRequest) => void,
): Promise<Ended> => {
  const { upstream, storedBytes } = forwarding;
  const { request, response, delivery, freeCall } = call;
  let asked: ClientRequest | undefined;
  let hasLeft = false;
  const stop = () => asked?.destroy(new UpstreamFault('authorization_ended'));
  if (delivery !== null) beginDelivery(call, delivery, { leaving, storedBytes, stop });
  // Without its whole request the upstream must not go on. A free answer is for nobody then. A paid
  // one is read for a repeat.
  const onClose = () => {
    if (response.writableFinished) return;
    hasLeft = true;
    if (delivery === null || delivery.metering !== null || !request.complete)
      asked?.destroy(new UpstreamFault('client_disconnected'));
  };
  response.once('close', onClose);
  let answer: IncomingMessage;
  try {
    answer = await askOnce(forwarding, call, (each) => {
      asked = each;
      onAsked(each);
    });
  } catch (error) {
    const fault = hasLeft ? 'client_disconnected' : faultOf(error as Error);
    if (fault.startsWith('upstream_')) {
      upstream.failed();
      freeCall?.giveBack();
    }
    refuseWith(response, STATUSES[fault], fault);
    return { upstreamStatus: null, bytes: 0, fault };
  }
  upstream.answered();
  rememberAnswer(request, answer);
  leaving.answered(answer);
  const status = answer.statusCode!;
  // Before the answer: who repeats the request finds the call given back.
  if (!isDelivered(status)) freeCall?.giveBack();
  const headers = answerHeaders(answer.rawHeaders, delivery !== null || freeCall !== null);
  response.sendDate = answer.headers.date === undefined;
  response.writeHead(status, answer.statusMessage ?? '', headers);
  const { bytes, fault } = await pass(answer, call, leaving, storedBytes);
  if (fault === 'upstream_broken') {
    upstream.failed();
    freeCall?.giveBack();
  }
  return { upstreamStatus: status, bytes, fault };
};

/**
 * Forwards a request, and its answer, until the gate cuts it off. The gate has failed then, so the
 * call costs nothing. It never throws.
 */
export const forward = async (forwarding: Forwarding, call: Call): Promise<Ended> => {
  const { delivery, response, freeCall, answerPrice } = call;
  const leaving = createLeaving(delivery, answerPrice);
  let asked: ClientRequest | undefined;
  let isCut = false;
  const cut = async (): Promise<void> => {
    isCut = true;
    leaving.owesNothing();
    freeCall?.giveBack();
    const finished = delivery?.finish('failed');
    asked?.destroy(new UpstreamFault('gate_ended'));
    response.destroy();
    await finished;
  };
  forwarding.cuts.add(cut);
  const ended = await forwardOpen(forwarding, call, leaving, (each) => {
    asked = each;
  });
  forwarding.cuts.delete(cut);
  return isCut ? { ...ended, fault: 'gate_ended' } : ended;
};
