import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refuseWith } from './answers.ts';
import type { CallRecord } from './call-log.ts';
import type { CallSpan } from './call-span.ts';
import type { FreeCall } from './free-calls.ts';
import { type Delivery, find, type Gate, pass, upstreamHeaders } from './gate.ts';
import { answerHeaders } from './headers.ts';
import { chargeAtOnce } from './metered.ts';
import { unreadBody } from './request-body.ts';

/**
 * An upgraded connection (WebSocket). A price is for the connection, and it is delivered when the
 * upstream has switched protocols.
 */

/** Answers on the connection of an upgrade, as on any other one. */
const responseOn = (request: IncomingMessage, socket: Duplex): ServerResponse => {
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never);
  response.once('finish', () => {
    response.detachSocket(socket as never);
    socket.end();
  });
  return response;
};

/** Both directions, each with its own end, until both have ended or one breaks. */
const join = (one: Duplex, other: Duplex): Promise<number> =>
  new Promise((resolve) => {
    let bytes = 0;
    other.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const end = () => {
      one.destroy();
      other.destroy();
      resolve(bytes);
    };
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      from.on('error', end).on('close', end);
      from.pipe(to);
    }
  });

type Switched = { kind: 'switched'; answer: IncomingMessage; socket: Duplex; head: Buffer };
type Asked = Switched | { kind: 'answered'; answer: IncomingMessage } | { kind: 'failed' };

const ask = (asked: ClientRequest, answerMs: number): Promise<Asked> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => asked.destroy(new Error('the upstream did not answer')), answerMs);
    const end = (result: Asked) => {
      clearTimeout(timer);
      resolve(result);
    };
    asked.once('upgrade', (answer, socket, head) => end({ kind: 'switched', answer, socket, head }));
    asked.once('response', (answer) => end({ kind: 'answered', answer }));
    asked.on('error', () => end({ kind: 'failed' }));
    asked.end();
  });

/** The first lines of a switched connection, as the upstream sent them. */
const headOf = (
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
  more: Record<string, string>,
): string => {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  for (const [name, value] of Object.entries(more)) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
};

/** An answer that switches nothing ends the connection, and the delivery like any answer. */
const passAnswer = async (
  answer: IncomingMessage,
  response: ServerResponse,
  delivery: Delivery | null,
  freeCall: FreeCall | null,
): Promise<void> => {
  await delivery?.finish('failed');
  freeCall?.giveBack();
  response.writeHead(
    answer.statusCode!,
    answer.statusMessage ?? '',
    answerHeaders(answer.rawHeaders, delivery !== null || freeCall !== null),
  );
  answer.pipe(response);
  answer.once('error', () => response.destroy());
  await new Promise((resolve) => response.once('close', resolve).once('finish', resolve));
};

/** Serves a request to upgrade. */
export const serveUpgrade = async (
  gate: Gate,
  request: IncomingMessage,
  { socket, head }: { socket: Duplex; head: Buffer },
  { record, span }: { record: CallRecord; span: CallSpan },
): Promise<void> => {
  const response = responseOn(request, socket);
  response.once('finish', () => {
    record.status = response.statusCode;
  });
  const found = find(gate, request, response, record);
  if (found === null) return;
  const passed = await pass(gate, found, { request, response, record, span }, async () =>
    unreadBody(request),
  );
  if (passed === null) return;
  const { delivery, freeCall } = passed;
  const passedOn = upstreamHeaders(gate, request, found.target, delivery);
  passedOn.push('Connection', 'Upgrade', 'Upgrade', request.headers.upgrade!);
  const { headers, end } = span.upstream(gate.settings.upstream!, request.method!, found.path, passedOn);
  const options = { method: request.method!, path: found.target, headers };
  const asked = await ask(gate.upstream.sendAlone(options), gate.settings.timeouts.answerMs);
  end(
    asked.kind === 'failed' ? null : asked.answer.statusCode!,
    asked.kind === 'failed' ? 'upstream_unreachable' : null,
  );
  if (asked.kind === 'failed') {
    gate.upstream.failed();
    record.reason = 'upstream_unreachable';
    await delivery?.finish('failed');
    freeCall?.giveBack();
    return refuseWith(response, 502, 'upstream_unreachable');
  }
  record.upstream_status = asked.answer.statusCode!;
  if (asked.kind === 'answered') return passAnswer(asked.answer, response, delivery, freeCall);
  if (delivery !== null) {
    chargeAtOnce(delivery, found.route?.answerPrice ?? null, asked.answer);
    await delivery.finish(null);
    if (delivery.metering !== null) record.amount = String(delivery.metering.meter.charged);
  }
  record.status = 101;
  response.detachSocket(socket as never);
  socket.write(headOf(asked.answer, delivery?.headers ?? {}));
  if (asked.head.length > 0) socket.write(asked.head);
  if (head.length > 0) asked.socket.write(head);
  record.bytes = await join(socket, asked.socket);
};
