import { REQUEST_ID_HEADER, readUpTo } from '../pay/dialects.ts';
import { resourceOf } from '../resource.ts';

/** A request as the paywall needs to see it, whatever framework it came through. */
export type Incoming = {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  header: (name: string) => string | null;
  /**
   * The body, read for a hash when a payment is there, and left readable. Null: longer than may be.
   * @param limit in bytes
   */
  body: (limit: number) => Promise<Uint8Array | null>;
};

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
/** As hexadecimal digits. */
export const sha256 = async (bytes: Uint8Array): Promise<string> =>
  hex(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));

/**
 * Address of what is sold: the vendor's own public address and the path, never the Host header that
 * the caller chose. Null for a target that is no path, or one that reads as another path once it is
 * resolved (`/cheap/../dear`): what the price, the signature and the handler see must be the same.
 */
export const resourceIn = (publicUrl: string, target: string): string | null => {
  const [path] = target.split(/[?#]/, 1);
  if (!path!.startsWith('/')) return null;
  const { origin } = new URL(publicUrl);
  // Put together as text: a path that begins with two slashes is an address of its own to a URL
  // parser.
  return new URL(`${origin}${path}`).pathname === path ? resourceOf(`${publicUrl}${path}`) : null;
};

/** The buyer's name for the request: null when there is none, undefined when it is not one. */
export const requestIdOf = (incoming: Incoming): string | null | undefined => {
  const id = incoming.header(REQUEST_ID_HEADER);
  return id === null || REQUEST_ID.test(id) ? id : undefined;
};

/**
 * What makes two requests the same one: method, path with query, body, and the buyer's own name for
 * it.
 */
export const requestHash = async (
  { method, target }: Incoming,
  requestId: string | null,
  body: Uint8Array,
): Promise<string> => {
  const parts = [method, target, requestId, await sha256(body)];
  return sha256(new TextEncoder().encode(JSON.stringify(parts)));
};

/** All bytes of a stream, null when there are more than the limit. */
export const readAll = async (
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Uint8Array | null> => {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) return null;
    read.push(chunk);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of read) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};

/** A web-standard request; its body is read from a copy. */
export const incomingOf = (request: Request): Incoming => {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    target: `${pathname}${search}`,
    header: (name) => request.headers.get(name),
    body: (limit) => readUpTo(request.clone(), limit),
  };
};
