import { REQUEST_ID_HEADER, readUpTo } from '../pay/dialects.ts';
import { identityOf } from '../request-identity.ts';
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

/** Identifies a request by method, path with query, body, and the buyer's id. */
export const requestHash = (
  { method, target }: Incoming,
  requestId: string | null,
  body: Uint8Array,
): Promise<string> => identityOf(JSON.stringify([method, target, requestId]), body);

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
