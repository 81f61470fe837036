import type { Metering, StopReason } from './meter.ts';
import type { MeteredResult } from './metered-route.ts';

/** What the answers of metered routes have in common, whatever the framework. */

const isEvents = (contentType: string | null): boolean => /^text\/event-stream\b/i.test(contentType ?? '');

export const joined = (chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};

/** The result of an answer, for the price of its route. @param chunks null: too long to be kept */
export const resultOf = (
  status: number,
  header: (name: string) => string | null,
  bytes: number,
  chunks: readonly Uint8Array[] | null,
): MeteredResult => {
  const kept = (): Uint8Array | null => (chunks === null ? null : joined(chunks));
  return {
    status,
    header,
    bytes,
    get body() {
      return kept();
    },
    json: () => {
      const body = kept();
      if (body === null)
        throw new TypeError('price: the answer is longer than maxStoredBytes, so it was not kept');
      return JSON.parse(new TextDecoder().decode(body));
    },
  };
};

/** The end of a stream of events that its meter has stopped, or null for other streams. */
export const lastEvent = (
  contentType: string | null,
  reason: StopReason,
  { usage }: Metering,
): Uint8Array | null => {
  if (!isEvents(contentType)) return null;
  const data = JSON.stringify({ reason, usage: usage() });
  // It begins with an empty line, because the handler may have been in the middle of an event.
  return new TextEncoder().encode(`\n\nevent: quittance-stopped\ndata: ${data}\n\n`);
};

/** The end of a stream of events that is complete: a comment, which every reader skips. */
export const lastComment = (contentType: string | null, { usage }: Metering): Uint8Array | null =>
  isEvents(contentType) ? new TextEncoder().encode(`: quittance-usage ${usage()}\n\n`) : null;
