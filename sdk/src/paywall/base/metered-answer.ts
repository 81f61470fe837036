import { isEventStream } from '../../event-stream.ts';
import type { Metering, StopReason } from './meter.ts';
import type { MeteredResult } from './metered-route.ts';

/** What the answers of metered routes have in common, whatever the framework. */

type Header = (name: string) => string | null;

/** True for a stream of events to which text can be added: it is neither encoded nor counted. */
const isOpenEvents = (header: Header): boolean =>
  isEventStream(header('content-type')) &&
  /^(identity)?$/i.test(header('content-encoding') ?? '') &&
  header('content-length') === null;

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
  header: Header,
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
export const lastEvent = (header: Header, reason: StopReason, { usage }: Metering): Uint8Array | null => {
  if (!isOpenEvents(header)) return null;
  const data = JSON.stringify({ reason, usage: usage() });
  // It begins with an empty line, because the handler may have been in the middle of an event.
  return new TextEncoder().encode(`\n\nevent: quittance-stopped\ndata: ${data}\n\n`);
};

/** The end of a stream of events that is complete: a comment, which every reader skips. */
export const lastComment = (header: Header, { usage }: Metering): Uint8Array | null =>
  isOpenEvents(header) ? new TextEncoder().encode(`: quittance-usage ${usage()}\n\n`) : null;
