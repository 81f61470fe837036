import { isDelivered, store } from './answers.ts';
import type { Finish } from './deliveries.ts';

/** Bytes of a delivery on their way out, kept as long as they are few. */
export const createCopy = (limit: number) => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limit) chunks.length = 0;
      else chunks.push(chunk);
    },
    /** What comes is not of a kind that can be kept. */
    giveUp: () => {
      size = Number.POSITIVE_INFINITY;
      chunks.length = 0;
    },
    chunks,
    tooLong: () => size > limit,
  };
};

/** What a handler answered, on to the buyer; ends the delivery when the last byte is there. Streams stay streams. */
export const capture = async (response: Response, finish: Finish, limit: number): Promise<Response> => {
  const { status, body } = response;
  const headers = new Headers(response.headers);
  // A cache that holds what was paid for hands it out for nothing.
  if (!headers.has('cache-control')) headers.set('cache-control', 'private, no-store');
  const like = (content: ReadableStream<Uint8Array> | null) =>
    new Response(content, { status, statusText: response.statusText, headers });
  if (!isDelivered(status)) {
    await finish('failed');
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
      // The handler's failure: what was short so far can be asked for again, what was long counts as delivered.
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
      // The buyer is gone: read on for the one who comes back, unless it is too long to be kept.
      cancel: async (reason) => {
        while (!copy.tooLong()) if ((await next()) === null) return;
        await finish(null);
        await reader.cancel(reason);
      },
    }),
  );
};
