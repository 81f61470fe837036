import { decidingHeaders, identityOf } from '../../checks/request-identity.ts';
import { resourceOf } from '../../checks/resource.ts';
import { REQUEST_ID_HEADER, readUpTo } from '../../pay/base/dialects.ts';
import type { Refusal } from './answers.ts';
import { readPath } from './path.ts';

/** A request in the form that the paywall needs, independent of the framework. */
export type Incoming = {
  method: string;
  /** Path and query as sent. */
  target: string;
  header: (name: string) => string | null;
  /** The address of the caller, if the adapter knows it. Behind trusted proxies what they name. */
  address?: string | null | undefined;
  /**
   * Reads the body for its hash, and leaves it readable. Null if it is too long. A refusal if it
   * cannot be held now.
   * @param limit in bytes
   * @throws ConsumedBodyError if something else has read it; errors of the connection
   */
  body: (limit: number) => Promise<Uint8Array | Refusal | null>;
  /**
   * True if the body is read last, for a payment that pays for the request in all but its body.
   * Otherwise it is read before the price, which may depend on it.
   */
  isBodyLast?: boolean;
  /**
   * True if something has parsed the body, so that its bytes may differ from those that were sent.
   */
  isParsed?: () => boolean;
  /**
   * Why nothing can be delivered now, or null. Asked before a price is named, and before a payment
   * is taken that has no record, so that nobody pays for a handler that cannot answer.
   */
  ready?: () => Promise<Refusal | null>;
};

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The address of the resource: the vendor's public address and the path. The caller controls the
 * Host header, so it is not used. Null for a path that servers read in different ways
 * (`/cheap/../dear`), because price, signature and handler must see the same one.
 */
export const resourceIn = (publicUrl: string, target: string): string | null => {
  const [path] = target.split(/[?#]/, 1);
  return readPath(path!) === null ? null : resourceOf(`${publicUrl}${path}`);
};

/** The buyer's id of the request. Null if there is none, undefined if it is invalid. */
export const requestIdOf = (incoming: Incoming): string | null | undefined => {
  const id = incoming.header(REQUEST_ID_HEADER);
  return id === null || REQUEST_ID.test(id) ? id : undefined;
};

/**
 * Identifies a request by method, path with query, body, the headers that decide its answer, and
 * the buyer's id.
 */
export const requestHash = (
  { method, target, header }: Incoming,
  requestId: string | null,
  body: Uint8Array,
): Promise<string> => {
  const deciding = decidingHeaders(header, body.length > 0);
  const parts = [method, target, requestId, ...(deciding === null ? [] : [deciding])];
  return identityOf(JSON.stringify(parts), body);
};

/**
 * The paywall cannot know the body, because something has read it before, or reads it after. Only
 * the vendor can change that.
 */
export class ConsumedBodyError extends TypeError {
  override readonly name: string = 'ConsumedBodyError';

  constructor(
    message = 'the body was read before the paywall and cannot be read again; put the paywall first, or pass it a copy of the request',
  ) {
    super(message);
  }
}

/** True if a body announces more bytes than the limit, so that none of them need be read. */
export const announcesMore = (contentLength: string | null, limit: number): boolean =>
  Number(contentLength ?? 0) > limit;

/**
 * Reads the body of a web-standard request from a copy. The rest of a body over the limit is read
 * and dropped, because an unread rest would break the next request of the same connection.
 */
const readCopy = async (request: Request, limit: number): Promise<Uint8Array | null> => {
  if (request.bodyUsed || request.body?.locked) throw new ConsumedBodyError();
  if (announcesMore(request.headers.get('content-length'), limit)) {
    drain(request);
    return null;
  }
  const copy = request.clone();
  const bytes = await readUpTo(copy, limit, drop);
  if (bytes === null) request.body?.cancel().catch(() => undefined);
  return bytes;
};

type ByteReader = { read: () => Promise<{ done: boolean }> };
const drop = (reader: ByteReader): void => {
  const next = (): Promise<unknown> => reader.read().then(({ done }) => (done ? undefined : next()));
  next().catch(() => undefined);
};
const drain = ({ body }: Request): void => {
  if (body != null) drop(body.getReader());
};

/** Converts a web-standard request. The body is read from a copy. */
export const incomingOf = (request: Request): Incoming => {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    target: `${pathname}${search}`,
    header: (name) => request.headers.get(name),
    body: (limit) => readCopy(request, limit),
  };
};

/**
 * Whether a browser opens the address for a person. Programs never send this header, so they get
 * the same 402 as ever.
 */
export const isNavigation = ({ method, header }: Incoming): boolean =>
  method === 'GET' &&
  header('sec-fetch-mode') === 'navigate' &&
  (header('sec-fetch-dest') ?? 'document') === 'document' &&
  /\btext\/html\b/.test(header('accept') ?? '');
