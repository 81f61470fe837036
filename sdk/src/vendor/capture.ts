import { isDelivered, store } from './answers.ts';
import type { Finish } from './deliveries.ts';

/** How an admitted request ends, and the headers that its answer must have. */
export type Admitted = { headers: Record<string, string>; isRepeatable: boolean; finish: Finish };

/** Copies the bytes of a delivery up to a limit. */
export const createCopy = (limit: number) => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (chunk: Uint8Array) => {
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
  };
};

/**
 * Passes a handler's answer to the buyer, and ends the delivery after its last byte. Streams stay
 * streams.
 */
export const capture = async (response: Response, admitted: Admitted, limit: number): Promise<Response> => {
  const { finish } = admitted;
  const { status, body } = response;
  const headers = new Headers(response.headers);
  // A cache would deliver paid content for free.
  if (!headers.has('cache-control')) headers.set('cache-control', 'private, no-store');
  for (const [name, value] of Object.entries(admitted.headers)) headers.set(name, value);
  const like = (content: ReadableStream<Uint8Array> | null) =>
    new Response(content, { status, statusText: response.statusText, headers });
  if (admitted.isRepeatable || !isDelivered(status)) {
    await finish(isDelivered(status) ? null : 'failed');
    return like(body);
  }
  const copy = createCopy(limit);
  const storedCopy = () => (copy.tooLong() ? null : store(status, headers, copy.chunks));
  if (body === null) {
    await finish(storedCopy());
    return like(null);
  }

  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const next = async (): Promise<Uint8Array | null> => {
    try {
      const { done, value } = await reader.read();
      if (!done) {
        copy.add(value);
        return value;
      }
    } catch (error) {
      // The handler failed. A short answer can be requested again; a long one counts as delivered.
      await finish(copy.tooLong() ? null : 'failed');
      throw error;
    }
    await finish(storedCopy());
    return null;
  };
  return like(
    new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const chunk = await next();
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
      // The buyer disconnected. The rest is read for a repeat, unless it is too long to be stored.
      cancel: async (reason) => {
        while (!copy.tooLong()) if ((await next()) === null) return;
        await finish(null);
        await reader.cancel(reason);
      },
    }),
  );
};
