import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';

const RESPONSE_CHARACTERS = 200;
/** The bytes of an answer that are read. A receiver that never ends must not fill the memory. */
const RESPONSE_BYTES = 1024;

/** The beginning of an answer without control characters, so that it is safe to display. */
const printable = (bytes: Buffer): string | null => {
  const text = bytes
    .toString('utf8')
    .replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}\s]+/gu, ' ')
    .trim();
  return text === '' ? null : [...text].slice(0, RESPONSE_CHARACTERS).join('');
};

type Answer = { statusCode: number; response: string | null };

/**
 * Reads the beginning of an answer, and calls back once: at its end, at its limit or at an error.
 */
const readAnswer = (incoming: http.IncomingMessage, done: (answer: Answer) => void): (() => void) => {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = () =>
    done({
      statusCode: incoming.statusCode ?? 0,
      response: printable(Buffer.concat(chunks).subarray(0, RESPONSE_BYTES)),
    });
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= RESPONSE_BYTES) finish();
  });
  incoming.on('end', finish);
  // The status decides. The rest of the answer is for the log.
  incoming.on('error', finish);
  return finish;
};

/** POSTs JSON once, over a separate connection, and follows no redirect. */
export const postOnce = (
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  { lookup, timeoutMs }: { lookup: LookupFunction; timeoutMs: number },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { Agent, request } = url.protocol === 'https:' ? https : http;
    let finish: (() => void) | undefined;
    const outgoing = request(
      url,
      {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Quittance-Webhooks/1',
        },
        agent: new Agent({ keepAlive: false }),
        lookup,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (incoming) => {
        finish = readAnswer(incoming, (answer) => {
          outgoing.destroy();
          resolve(answer);
        });
      },
    );
    outgoing.on('error', (error) => (finish === undefined ? reject(error) : finish()));
    // A switch of protocols closes the connection without an error. Without this the promise would
    // never settle, and its permit would never be released.
    outgoing.on('close', () => {
      if (finish === undefined) reject(new Error('the connection was closed without an answer'));
    });
    outgoing.end(body);
  });
