/** A JSON-RPC 2.0 request. */
export type Request = { jsonrpc: '2.0'; id: string; method: string; params: unknown[] };

type Post = (body: string) => Promise<unknown>;
type Waiting = { request: Request; resolve: (answer: unknown) => void; reject: (error: unknown) => void };

/** Providers limit the calls of a batch, and answer them one after the other. */
const MAX_CALLS = 16;
/** A provider that refused a batch, perhaps under load, gets single calls for this time. */
const SINGLE_FOR_MS = 60_000;

const idOf = (answer: unknown): unknown => (answer as { id?: unknown } | null)?.id;

/**
 * Sends the calls of one turn of the event loop to one provider as one JSON-RPC batch, because an
 * HTTP request costs more than the calls in it. A provider may refuse batches: its answer is then
 * no list, and each call is sent alone. That is safe even if the batch was executed, because reads
 * change nothing and a transaction is executed once.
 * @returns a function that resolves with the answer to its call: in a batch the one with its id, or
 *   undefined if there is none. It rejects when `post` does
 */
export const createBatches = (post: Post): ((request: Request) => Promise<unknown>) => {
  let waiting: Waiting[] = [];
  let singleUntil = 0;

  const sendAlone = ({ request, resolve, reject }: Waiting): void =>
    void post(JSON.stringify(request)).then(resolve, reject);

  const sendBatch = async (calls: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await post(JSON.stringify(calls.map(({ request }) => request))).catch(
        (error: unknown) => {
          // The body of a refusal may be a page.
          if (error instanceof SyntaxError) return null;
          throw error;
        },
      );
      if (Array.isArray(answers)) {
        const byId = new Map(answers.map((answer) => [idOf(answer), answer as unknown]));
        for (const { request, resolve } of calls) resolve(byId.get(request.id));
        return;
      }
      singleUntil = performance.now() + SINGLE_FOR_MS;
      for (const call of calls) sendAlone(call);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };

  const sendWaiting = (): void => {
    const calls = waiting;
    waiting = [];
    const size = performance.now() < singleUntil ? 1 : MAX_CALLS;
    for (let at = 0; at < calls.length; at += size) {
      const batch = calls.slice(at, at + size);
      if (batch.length === 1) sendAlone(batch[0]!);
      else void sendBatch(batch);
    }
  };

  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      if (waiting.length === 1) setImmediate(sendWaiting);
    });
};
