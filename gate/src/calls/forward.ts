import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { captureNode } from '../../../sdk/src/paywall/adapter.ts';
import { hasBody, type RequestBody } from '../ground/request-body.ts';
import { refuseWith } from './answers.ts';
import { type Cost, createCost, type Priced } from './cost.ts';
import { passHints } from './early-hints.ts';
import { answerHeaders, requestTrailers } from './headers.ts';
import { passAnswer } from './pass-answer.ts';
import { joinSides, SWITCH, type Switched, type Switching } from './upgrade.ts';
import type { Upstream } from './upstream.ts';

/** One request on its way to the upstream, and the answer on its way back. */

type Delivery = NonNullable<Priced['delivery']>;

/** Each cuts one open call off, because the time to drain is over. */
export type Cuts = Set<() => Promise<void>>;

type Forwarding = {
  cuts: Cuts;
  upstream: Upstream;
  timeouts: { connectMs: number; answerMs: number; idleMs: number };
  storedBytes: number;
  /** Whether the upstream reads every body to its end. */
  readsBodies: boolean;
};
type Call = Priced & {
  response: ServerResponse;
  target: string;
  headers: string[];
  body: RequestBody;
  /** The connection of a handshake, which the upstream may switch. Null: the request is none. */
  switching: Switching | null;
  /** One of a path that is for sale. */
  isPreflight: boolean;
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

type Answered = { answer: IncomingMessage; switched: Switched | null };

/**
 * Begins the request at the upstream.
 * @returns the answer, after its first line, and the connection if the upstream has switched it
 * @throws the fault
 */
const ask = (
  { upstream, timeouts, readsBodies }: Forwarding,
  call: Call,
  onAsked: (asked: ClientRequest) => void,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { request, response, target: path, headers, body, switching } = call;
    // What an upstream leaves of a body would be the next request on its connection.
    const isAlone = switching !== null || (hasBody(request) && !readsBodies);
    const send = isAlone ? upstream.sendAlone : upstream.send;
    const asked = send({ method: request.method!, path, headers });
    onAsked(asked);
    const deadline = createDeadline(() => asked.destroy(new UpstreamFault('upstream_timeout')));
    asked.once('socket', (socket) => {
      if (!socket.connecting) return;
      deadline.set(timeouts.connectMs);
      socket.once('connect', deadline.clear);
    });
    // The agent sets it for its own connections: no byte has come or gone for a while.
    if (isAlone) asked.setTimeout(timeouts.idleMs);
    asked.once('timeout', () => asked.destroy(new UpstreamFault('upstream_timeout')));
    asked.once('finish', () => deadline.set(timeouts.answerMs));
    asked.on('information', (information) => passHints(response, information));
    asked.once('response', (answer) => {
      deadline.clear();
      resolve({ answer, switched: null });
    });
    asked.on('error', (error) => {
      deadline.clear();
      reject(error);
    });
    asked.once('upgrade', (answer, socket, head) => {
      deadline.clear();
      // It may break before both sides are joined.
      socket.on('error', () => undefined).setTimeout(0);
      if (switching !== null) return resolve({ answer, switched: { answer, socket, head } });
      socket.destroy();
      reject(new UpstreamFault('upstream_broken'));
    });
    sendBody(body, asked, request);
  });

/** Asks, and asks again if an idle connection was closed at that moment. */
const askOnce = async (
  forwarding: Forwarding,
  call: Call,
  onAsked: (asked: ClientRequest) => void,
): Promise<Answered> => {
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
 * Begins the delivery of a call.
 * @param stop ends the call at the upstream
 */
const beginDelivery = (
  { response }: Call,
  delivery: Delivery,
  { cost, storedBytes, stop }: { cost: Cost; storedBytes: number; stop: () => void },
): void => {
  // Before the listener of the paywall, after which nothing can be charged.
  response.once('close', () => void cost.end('left'));
  captureNode(response, delivery, storedBytes);
  delivery.metering?.meter.signal.addEventListener('abort', () => {
    if (isStopped(delivery) && !response.headersSent) stop();
  });
};

/** Statuses whose answers have no body, and so no trailers. */
const BODILESS = new Set([204, 304]);

const without = (name: string, headers: readonly string[]): string[] =>
  headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== name);

/** The text of a status, as it may be sent (RFC 9112, 4). */
const TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Begins the answer to the client with the head of the upstream's. */
const writeHead = (answer: IncomingMessage, call: Call, more: readonly string[] = []): void => {
  const { response, request, delivery, freeCall } = call;
  const status = answer.statusCode!;
  const headers = answerHeaders(answer.rawHeaders, delivery !== null || freeCall !== null);
  const hasTrailers =
    !call.isPreflight &&
    answer.headers['transfer-encoding'] !== undefined &&
    request.httpVersionMinor > 0 &&
    request.method !== 'HEAD' &&
    !BODILESS.has(status);
  // Node refuses to announce trailers that cannot follow.
  const passed = hasTrailers ? headers : without('trailer', headers);
  response.sendDate = answer.headers.date === undefined;
  const text = answer.statusMessage ?? '';
  const sent = call.isPreflight ? without('content-length', passed) : passed;
  response.writeHead(status, TEXT.test(text) ? text : '', [...sent, ...more]);
};

/**
 * Answers a preflight with the headers of the upstream's answer. A browser reads no more, and an
 * API that ignores methods answers with what is for sale.
 */
const passPreflight = (answer: IncomingMessage, call: Call): void => {
  const isEmpty = answer.headers['content-length'] === '0' || BODILESS.has(answer.statusCode!);
  writeHead(answer, call);
  call.response.end();
  // Its body may have no end.
  answer.on('error', () => undefined);
  if (isEmpty) answer.resume();
  else answer.destroy();
};

/** Switches the connection of the client. It is delivered before the client learns of it. */
const switchOver = async (switched: Switched, call: Call, cost: Cost): Promise<number> => {
  await cost.end('delivered');
  writeHead(switched.answer, call, SWITCH);
  call.response.flushHeaders();
  return joinSides(call.switching!, switched);
};

const forwardOpen = async (
  forwarding: Forwarding,
  call: Call,
  cost: Cost,
  onAsked: (asked: ClientRequest) => void,
): Promise<Ended> => {
  const { upstream, storedBytes } = forwarding;
  const { request, response, delivery } = call;
  let asked: ClientRequest | undefined;
  let hasLeft = false;
  const stop = () => asked?.destroy(new UpstreamFault('authorization_ended'));
  if (delivery !== null) beginDelivery(call, delivery, { cost, storedBytes, stop });
  // Without its whole request the upstream must not go on. A free answer is for nobody then. A paid
  // one is read for a repeat.
  const onClose = () => {
    if (response.writableFinished) return;
    hasLeft = true;
    if (delivery === null || delivery.metering !== null || !request.complete)
      asked?.destroy(new UpstreamFault('client_disconnected'));
  };
  response.once('close', onClose);
  let answered: Answered;
  try {
    answered = await askOnce(forwarding, call, (each) => {
      asked = each;
      onAsked(each);
    });
  } catch (error) {
    const fault = hasLeft ? 'client_disconnected' : faultOf(error as Error);
    if (fault.startsWith('upstream_')) {
      upstream.failed();
      await cost.end('failed');
    }
    refuseWith(response, STATUSES[fault], fault);
    return { upstreamStatus: null, bytes: 0, fault };
  }
  const { answer, switched } = answered;
  const upstreamStatus = answer.statusCode!;
  upstream.answered();
  cost.answered(answer);
  if (switched !== null)
    return { upstreamStatus, bytes: await switchOver(switched, call, cost), fault: null };
  if (call.isPreflight) {
    passPreflight(answer, call);
    return { upstreamStatus, bytes: 0, fault: null };
  }
  writeHead(answer, call);
  const { bytes, end } = await passAnswer(answer, call, cost, storedBytes);
  if (end === 'broken') upstream.failed();
  const gone = isStopped(delivery) ? 'authorization_ended' : 'client_disconnected';
  const fault = { whole: null, broken: 'upstream_broken', gone } as const;
  return { upstreamStatus, bytes, fault: fault[end] };
};

/**
 * Forwards a request, and its answer, until the gate cuts it off. The gate has failed then, so the
 * call costs nothing.
 * @throws errors of an answer that cannot be passed; it costs nothing
 */
export const forward = async (forwarding: Forwarding, call: Call): Promise<Ended> => {
  const cost = createCost(call);
  let asked: ClientRequest | undefined;
  let isCut = false;
  const cut = async (): Promise<void> => {
    isCut = true;
    const ended = cost.end('failed');
    asked?.destroy(new UpstreamFault('gate_ended'));
    call.response.destroy();
    await ended;
  };
  forwarding.cuts.add(cut);
  try {
    const ended = await forwardOpen(forwarding, call, cost, (each) => {
      asked = each;
    });
    return isCut ? { ...ended, fault: 'gate_ended' } : ended;
  } catch (error) {
    asked?.destroy();
    await cost.end('failed');
    throw error;
  } finally {
    forwarding.cuts.delete(cut);
  }
};
