import { type Admitted, GRACE_MS } from '../base/admitted.ts';
import { isDelivered, store } from '../base/answers.ts';
import { delivered, type End, FAILED } from '../base/ends.ts';
import { announcesMore, ConsumedBodyError } from '../base/incoming.ts';
import { meterNode } from './metered-node.ts';
import { createNodeCopy, innerOf, type Method, type NodeResponse } from './node-copy.ts';

/**
 * Structural types for frameworks on Node's server, so that the SDK needs no type of Node.
 */

export type NodeHeaders = Record<string, string | string[] | undefined>;

export const headerOf = (headers: NodeHeaders, name: string): string | null => {
  const value = headers[name];
  return value === undefined ? null : typeof value === 'string' ? value : value.join(', ');
};

export type NodeBody = {
  headers: NodeHeaders;
  readableDidRead: boolean;
  on: Method;
  off: Method;
  resume: () => unknown;
};

/**
 * The bytes of an unread request. Null if they exceed the limit. The rest is read and dropped then,
 * as Node's server does with a body that nobody reads: a stream that is left or destroyed would
 * break the client's next request on the connection.
 */
export const readNode = (request: NodeBody, limit: number): Promise<Uint8Array | null> => {
  const length = headerOf(request.headers, 'content-length');
  if (!hasBody(request.headers)) return Promise.resolve(new Uint8Array());
  if (request.readableDidRead) return Promise.reject(new ConsumedBodyError());
  if (announcesMore(length, limit)) {
    request.resume();
    return Promise.resolve(null);
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const events: Record<string, (...args: never[]) => void> = {
      data: (chunk: Uint8Array) => {
        size += chunk.length;
        if (size <= limit) chunks.push(chunk);
        else settle(() => resolve(null));
      },
      end: () => settle(() => resolve(joined(chunks, size))),
      error: (error: unknown) => settle(() => reject(error)),
      close: () => settle(() => reject(new Error('the client has disconnected'))),
    };
    const settle = (end: () => void) => {
      for (const [name, listener] of Object.entries(events)) request.off(...([name, listener] as never[]));
      request.resume();
      end();
    };
    for (const [name, listener] of Object.entries(events)) request.on(...([name, listener] as never[]));
  });
};

const joined = (chunks: readonly Uint8Array[], size: number): Uint8Array => {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};

/** True for a body that is not the bytes of the request. */
export const isParsed = (body: unknown): boolean =>
  body !== undefined && body !== null && !ArrayBuffer.isView(body);

/** True if a request announces a body. */
export const hasBody = (headers: NodeHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headerOf(headers, 'content-length') ?? 0) > 0;

/** True for a stream, whose bytes only its reader will know. */
const isStream = (body: object): boolean => 'pipe' in body || 'getReader' in body;

/**
 * The bytes of a parsed body. Equal bodies have equal bytes.
 * @throws ConsumedBodyError if it is a stream, or has one
 */
export const parsedBytes = (body: unknown): Uint8Array => {
  if (body === undefined || body === null) return new Uint8Array();
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (typeof body === 'string') return new TextEncoder().encode(body);
  const parts = typeof body === 'object' ? [body, ...Object.values(body).flat()] : [];
  if (
    parts.some((part) => typeof part === 'object' && part !== null && (isStream(part) || 'toBuffer' in part))
  )
    throw new ConsumedBodyError(READ_LATER);
  return new TextEncoder().encode(JSON.stringify(body));
};

/** What a handler reads itself is not known before it runs. */
export const READ_LATER =
  "the body is read after the paywall, which cannot tell it from another one; let a parser read it before (for @fastify/multipart attachFieldsToBody: 'keyValues')";

const setHeaders = (response: NodeResponse, headers: Record<string, string>): void => {
  // A cache would deliver paid content for free. A handler may override this.
  if (!response.hasHeader('cache-control')) response.setHeader('cache-control', 'private, no-store');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
};

/** Adds the headers of a delivery, and ends it with what the handler sends. */
export const captureNode = (response: NodeResponse, admitted: Admitted, limit: number): void => {
  setHeaders(response, admitted.headers);
  const { metering } = admitted;
  if (metering !== null) meterNode(response, { ...admitted, metering }, limit);
  else if (!admitted.isRepeatable) copyNode(response, admitted, limit);
  else
    response.once('close', () => {
      // Its head decides, as for web-standard requests: the answer is not kept for a repeat.
      const isDelivery = response.headersSent && isDelivered(response.statusCode);
      void admitted.finish(isDelivery ? delivered(null) : FAILED);
    });
};

/**
 * Records what a handler sends, and ends the delivery with it. The stored copy is what the handler
 * wrote, before earlier middleware (compression) changes it, so that a repeat passes through the
 * same middleware.
 */
const copyNode = (response: NodeResponse, { finish, left }: Admitted, limit: number): void => {
  const { inner, original } = innerOf(response);
  const { writeHead, write, end, destroy } = original;
  const { copy, keepHead, keep, head } = createNodeCopy(response, limit);
  let ended = false;
  let brokenOff = false;

  const endOf = (whole: boolean): End => {
    const kept = head();
    if (kept === null || !isDelivered(kept.status)) return FAILED;
    if (copy.tooLong()) return delivered(null);
    return whole ? delivered(store(kept.status, kept.headers, copy.chunks)) : FAILED;
  };

  inner.writeHead = (...args) => {
    keepHead(args);
    return writeHead(...args);
  };
  inner.write = (...args) => {
    if (!ended) keep(args[0], args[1]);
    return write(...args);
  };
  inner.end = (...args) => {
    if (!ended) {
      ended = true;
      keep(args[0], args[1]);
      void finish(endOf(true));
    }
    return end(...args);
  };
  inner.destroy = (...args) => {
    brokenOff = true;
    return destroy(...args);
  };
  response.once('close', () => {
    if (ended) return;
    if (brokenOff || copy.tooLong()) return void finish(endOf(false));
    // The buyer disconnected while the handler runs. A second run in parallel would let a buyer who
    // disconnects just before the end of a stream run the handler any number of times.
    const timer: unknown = setTimeout(() => void left(), GRACE_MS);
    (timer as { unref?: () => void }).unref?.();
  });
};
