import { REQUEST_ID_HEADER, readUpTo } from '../pay/dialects.ts';
import { resourceOf } from '../resource.ts';

/** A request in the form that the paywall needs, independent of the framework. */
export type Incoming = {
  method: string;
  /** Path and query as sent. */
  target: string;
  header: (name: string) => string | null;
  /**
   * Reads the body for its hash, and leaves it readable. Null if it is too long.
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
 * The address of the resource: the vendor's public address and the path. The caller controls the
 * Host header, so it is not used. Null for a target that is not a path, or that resolves to another
 * path (`/cheap/../dear`), because price, signature and handler must see the same path.
 */
export const resourceIn = (publicUrl: string, target: string): string | null => {
  const [path] = target.split(/[?#]/, 1);
  if (!path!.startsWith('/')) return null;
  const { origin } = new URL(publicUrl);
  // Concatenated as text, because a URL parser treats a path that begins with two slashes as
  // another host.
  return new URL(`${origin}${path}`).pathname === path ? resourceOf(`${publicUrl}${path}`) : null;
};

/** The buyer's id of the request. Null if there is none, undefined if it is invalid. */
export const requestIdOf = (incoming: Incoming): string | null | undefined => {
  const id = incoming.header(REQUEST_ID_HEADER);
  return id === null || REQUEST_ID.test(id) ? id : undefined;
};

/** A longer address is hashed, because stores use what identifies a request as a key. */
const MAX_PLAIN = 200;

/**
 * Identifies a request by method, path with query, body, and the buyer's id. Short text is not
 * hashed: a hash takes as long as everything else that the paywall does for a prepaid request.
 */
export const requestHash = async (
  { method, target }: Incoming,
  requestId: string | null,
  body: Uint8Array,
): Promise<string> => {
  const parts = JSON.stringify([method, target, requestId]);
  if (body.length === 0 && target.length <= MAX_PLAIN) return parts;
  const head = new TextEncoder().encode(parts);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return sha256(bytes);
};

/** All bytes of a stream. Null if they exceed the limit. */
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

/** Converts a web-standard request. The body is read from a copy. */
export const incomingOf = (request: Request): Incoming => {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    target: `${pathname}${search}`,
    header: (name) => request.headers.get(name),
    body: (limit) => readUpTo(request.clone(), limit),
  };
};
