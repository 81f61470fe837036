import { readUpTo } from './dialects.ts';
import { BodyTooLargeError } from './errors.ts';

/** The body of a call, which is sent once, or again with a payment. */
export type CallBody = {
  /** For the identity of the request. Null if the body is above the limit. */
  bytes: Uint8Array<ArrayBuffer> | null;
  /**
   * The fields of the next send. The first one has the form that the caller has given.
   * @throws BodyTooLargeError if the body is above the limit and was sent
   */
  next: () => RequestInit & { duplex?: 'half' };
};

export const NO_BODY: CallBody = { bytes: new Uint8Array(), next: () => ({}) };

const tooLarge = (maxBytes: number): BodyTooLargeError =>
  new BodyTooLargeError(
    `The body has more than ${maxBytes} bytes, so it cannot be sent again with a payment.`,
  );

type Body = NonNullable<RequestInit['body']>;

const isStream = (given: unknown): given is ReadableStream =>
  typeof (given as Partial<ReadableStream> | null | undefined)?.getReader === 'function';

/** Text stays text. Its value is that of the call, whatever the caller changes afterwards. */
const textOf = (given: unknown): string | null =>
  typeof given === 'string' ? given : given instanceof URLSearchParams ? String(given) : null;

/**
 * As a Blob, because some versions of Node detach the bytes of a body and fail at a redirect.
 */
const blobOf = (bytes: Uint8Array<ArrayBuffer>): Body => {
  try {
    return new Blob([bytes]);
  } catch {
    // Platforms without blobs of bytes.
    return bytes.slice();
  }
};

/**
 * Reads the body of a request that was made of the caller's arguments.
 * @param given the body of the arguments
 */
export const readBody = async (request: Request, given: unknown, maxBytes: number): Promise<CallBody> => {
  if (given == null && !request.body && (request.method === 'GET' || request.method === 'HEAD'))
    return NO_BODY;
  const text = textOf(given);
  // Only these can be read once.
  const isOnce = isStream(given) || given == null;
  const bytes = await readUpTo(isOnce ? request.clone() : request, maxBytes);
  const fields = (body: unknown): RequestInit & { duplex?: 'half' } => ({
    body: body as Body,
    ...(isStream(body) ? { duplex: 'half' } : {}),
  });
  if (bytes?.length === 0) return NO_BODY;
  if (bytes === null) {
    const rest = isOnce ? (request.body ?? (await request.blob())) : given;
    let isSent = false;
    const next = () => {
      if (isSent) throw tooLarge(maxBytes);
      isSent = true;
      return fields(rest);
    };
    return { bytes, next };
  }
  let first: unknown = isStream(given) ? request.body : null;
  if (isOnce && first == null) request.body?.cancel().catch(() => undefined);
  const next = () => {
    const body = first ?? text ?? blobOf(bytes);
    first = null;
    return fields(body);
  };
  return { bytes, next };
};
