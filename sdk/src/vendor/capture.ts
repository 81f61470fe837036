import { type Admitted, createCopy, deliveredHeaders } from './admitted.ts';
import { isDelivered, store } from './answers.ts';
import { captureMetered } from './metered-capture.ts';

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
