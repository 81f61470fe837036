import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The body of a request: a beginning that may have been read to identify a paid request, and the
 * rest, which is still to come. Null: all of it was read.
 */
export type RequestBody = { beginning: Buffer; rest: IncomingMessage | null };

const EMPTY = Buffer.alloc(0);

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** The body of a request of which nothing was read. */
export const unreadBody = (request: IncomingMessage): RequestBody => ({
  beginning: EMPTY,
  rest: hasBody(request) ? request : null,
});

/** Reads what has arrived, up to the limit, and leaves the rest for whoever reads on. */
const read = (request: IncomingMessage, limit: number): Promise<RequestBody> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= limit) return;
      request.pause();
      stop();
      resolve({ beginning: Buffer.concat(chunks, size), rest: request });
    };
    const onEnd = () => {
      stop();
      resolve({ beginning: Buffer.concat(chunks, size), rest: null });
    };
    const onError = (error: Error) => {
      stop();
      reject(error);
    };
    const onClose = () => onError(new Error('the client has disconnected'));
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });

/**
 * Reads the beginning of a body that identifies a paid request.
 * @param limit the bytes after which the rest stays unread; it is streamed
 */
export const readBeginning = async (
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<RequestBody> => {
  if (!hasBody(request)) return unreadBody(request);
  // The client waits for it before it sends a body (`Expect: 100-continue`).
  if (request.headers.expect !== undefined) response.writeContinue();
  return read(request, limit);
};
