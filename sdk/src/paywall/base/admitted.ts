import type { BuyerLeft, Finish } from './ends.ts';
import type { Metering } from './meter.ts';

/**
 * How long a handler may continue after its buyer disconnected. Then the buyer may repeat the
 * request, once: a handler that has given up never ends, and one that still runs must not be run
 * again and again.
 */
export const GRACE_MS = 30_000;

/** How an admitted request ends, and the headers that its answer must have. */
export type Admitted = {
  headers: Record<string, string>;
  isRepeatable: boolean;
  metering: Metering | null;
  finish: Finish;
  left: BuyerLeft;
};

/** Copies the bytes of a delivery up to a limit. */
export const createCopy = (limit: number) => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let bytes = 0;
  return {
    add: (chunk: Uint8Array) => {
      bytes += chunk.length;
      size += chunk.length;
      if (size > limit) chunks.length = 0;
      else chunks.push(chunk);
    },
    /** Marks the answer as not storable. */
    giveUp: () => {
      size = Number.POSITIVE_INFINITY;
      chunks.length = 0;
    },
    chunks,
    tooLong: () => size > limit,
    /** The length of all chunks. */
    bytes: () => bytes,
  };
};

/** The headers of a delivery. */
export const deliveredHeaders = (response: Response, admitted: Admitted): Headers => {
  const headers = new Headers(response.headers);
  // A cache would deliver paid content for free.
  if (!headers.has('cache-control')) headers.set('cache-control', 'private, no-store');
  for (const [name, value] of Object.entries(admitted.headers)) headers.set(name, value);
  return headers;
};
