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

/** How many bytes of bodies are held in memory, for all requests together. */
export type HeldBytes = {
  /** Those of one request. `take` returns false if there is no room, and `end` gives them back. */
  begin: () => { take: (bytes: number) => boolean; end: () => void };
};
export const createHeldBytes = (most: number): HeldBytes => {
  let held = 0;
  return {
    begin: () => {
      let own = 0;
      return {
        take: (bytes) => {
          if (held + bytes > most) return false;
          held += bytes;
          own += bytes;
          return true;
        },
        end: () => {
          held -= own;
          own = 0;
        },
      };
    },
  };
};

/** There is no room for the body of a request at the moment. */
export class NoRoomError extends Error {}

/** Reads what has arrived, up to the limit, and leaves the rest for whoever reads on. */
const read = (
  request: IncomingMessage,
  limit: number,
  take: (bytes: number) => boolean,
): Promise<RequestBody> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    };
    const onData = (chunk: Buffer) => {
      if (!take(chunk.length)) {
        request.pause();
        return onError(new NoRoomError());
      }
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
 * @param held where they count until the call has ended
 * @throws NoRoomError, errors of the connection
 */
export const readBeginning = async (
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  held: HeldBytes,
): Promise<RequestBody> => {
  if (!hasBody(request)) return unreadBody(request);
  // The client waits for it before it sends a body (`Expect: 100-continue`).
  if (request.headers.expect !== undefined) response.writeContinue();
  const { take, end } = held.begin();
  response.once('close', end);
  return read(request, limit, take);
};

/** What each second after its time must bring of a body. */
const LEAST_BYTES_A_SECOND = 1024;

/**
 * Ends a request whose body comes too slowly, because it holds a worker of many upstreams.
 * @param graceMs the time that each body has, however short it is
 */
export const endSlowBody = (request: IncomingMessage, response: ServerResponse, graceMs: number): void => {
  if (!hasBody(request)) return;
  const [begunAt, before] = [Date.now(), request.socket.bytesRead];
  let timer: NodeJS.Timeout | undefined;
  const check = (): void => {
    if (request.complete) return;
    const earned = ((request.socket.bytesRead - before) / LEAST_BYTES_A_SECOND) * 1000;
    const leftMs = begunAt + graceMs + earned - Date.now();
    // What has arrived and was not taken waits for the upstream.
    const isWaiting = request.readableLength > 0 || request.isPaused();
    if (leftMs <= 0 && !isWaiting) return void request.destroy();
    timer = setTimeout(check, leftMs > 0 ? leftMs : graceMs);
  };
  check();
  response.once('close', () => clearTimeout(timer));
};
