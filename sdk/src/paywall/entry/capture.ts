import { isEventStream } from '../../event-stream.ts';
import { pause } from '../../wait.ts';
import { type Admitted, createCopy, deliveredHeaders, GRACE_MS } from '../base/admitted.ts';
import { isDelivered, store } from '../base/answers.ts';
import { delivered, FAILED, GONE } from '../base/ends.ts';
import { captureMetered } from '../metered/metered-capture.ts';

/**
 * Passes a handler's answer to the buyer, and ends the delivery after its last byte. Streams stay
 * streams.
 */
export const capture = async (response: Response, admitted: Admitted, limit: number): Promise<Response> => {
  const { finish, metering } = admitted;
  if (metering !== null) return captureMetered(response, { ...admitted, metering }, limit);
  const { status, body } = response;
  const headers = deliveredHeaders(response, admitted);
  const like = (content: ReadableStream<Uint8Array> | null) =>
    new Response(content, { status, statusText: response.statusText, headers });
  if (admitted.isRepeatable || !isDelivered(status)) {
    await finish(isDelivered(status) ? delivered(null) : FAILED);
    return like(body);
  }
  const copy = createCopy(limit);
  const storedCopy = () => (copy.tooLong() ? null : store(status, headers, copy.chunks));
  if (body === null) {
    await finish(delivered(storedCopy()));
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
      await finish(copy.tooLong() ? delivered(null) : FAILED);
      throw error;
    }
    await finish(delivered(storedCopy()));
    return null;
  };
  return like(
    new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const chunk = await next();
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
      // The buyer disconnected. The rest is read for a repeat, for a while, unless it is too long
      // to be stored. Then the handler learns it.
      cancel: async (reason) => {
        const rest = async (): Promise<'ended' | null> => {
          while (!copy.tooLong()) if ((await next()) === null) return 'ended';
          return null;
        };
        // Such a stream may have no end, so its handler must learn at once that nobody reads it.
        const isEndless = isEventStream(headers.get('content-type'));
        const read = isEndless ? null : await Promise.race([rest(), pause(GRACE_MS)]);
        if (read === 'ended') return;
        // First, because the end of the reader is not the end of the answer.
        await finish(copy.tooLong() ? delivered(null) : GONE);
        await reader.cancel(reason);
      },
    }),
  );
};
