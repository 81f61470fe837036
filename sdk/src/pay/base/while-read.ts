/**
 * Lets somebody see the body of an answer while its caller reads it, at the caller's pace. The
 * answer stays the same object, because a copy would lose its address.
 */

type Watch = {
  chunk?: (bytes: Uint8Array) => void;
  /** The body was read to its end. What it throws reaches nobody. */
  end: () => unknown;
};

const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const;

const watched = (body: ReadableStream<Uint8Array>, { chunk, end }: Watch): ReadableStream<Uint8Array> =>
  body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        chunk?.(bytes);
        controller.enqueue(bytes);
      },
      flush: () => {
        void Promise.resolve()
          .then(end)
          .catch(() => undefined);
      },
    }),
  );

/** @returns the same answer */
export const whileRead = (response: Response, watch: Watch): Response => {
  const own = response.body as ReadableStream<Uint8Array> | null;
  if (own === null) return response;
  let body: ReadableStream<Uint8Array> | undefined;
  // Not before it is asked for, so that the answer can be cloned until then.
  const bodyOf = (): ReadableStream<Uint8Array> => {
    body ??= watched(own, watch);
    return body;
  };
  const define = (name: string, get: () => unknown): void => {
    Object.defineProperty(response, name, { configurable: true, get });
  };
  define('body', bodyOf);
  for (const name of READERS) {
    if (typeof (response as Partial<Response>)[name] !== 'function') continue;
    define(name, () => async () => new Response(bodyOf(), { headers: response.headers })[name]());
  }
  return response;
};
