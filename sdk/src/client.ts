import { type Call, createAuthorized, createRetrying } from './call.ts';
import { type Credential, credentialSource } from './credential.ts';
import { OPERATIONS, type Operations } from './generated/operations.ts';
import { type AttemptStore, createSettle, memoryAttempts, type Settle } from './settle.ts';
import { createSend, type Fetch, type Fields } from './transport.ts';
import type { CallOptions, OperationInfo } from './types.ts';

export type ClientOptions = {
  /** Where the API is reached, for instance `https://api.example.com`. */
  baseUrl: string;
  /** None: only what needs no credential. */
  credential?: Credential;
  /** Default: in memory. Give a durable one where a crash must not lose the answer of a payment. */
  attempts?: AttemptStore;
  /** Default: that of the platform. */
  fetch?: Fetch;
  /**
   * Of calls that may be repeated: GETs, and those that never happen twice. Settle has its own
   * patience. Default 3.
   */
  maxRetries?: number;
};

/** Every operation by its name, as `client.<service>.<operation>(input)`. */
export type Client = Omit<Operations, 'settlement'> & {
  settlement: Omit<Operations['settlement'], 'settle'> & { settle: Settle };
};

type Page = { data: unknown[]; next_cursor: string | null };

const method = (info: OperationInfo, call: Call) => async (input: Fields, options: CallOptions) =>
  (await call(info, input, options)).body;

/** A page that leads on: awaited it is itself, iterated it is all items from it on. */
const listing = (info: OperationInfo, call: Call) => {
  const pageOf = method(info, call) as (input: Fields, options: CallOptions) => Promise<Page>;
  return (input: Fields, options: CallOptions) => {
    const first = pageOf(input, options);
    return Object.assign(first, {
      async *[Symbol.asyncIterator]() {
        let page = await first;
        for (;;) {
          yield* page.data;
          if (page.next_cursor === null) return;
          page = await pageOf({ ...input, cursor: page.next_cursor }, options);
        }
      },
    });
  };
};

/** A client of one API under one credential. It holds no connection and needs no closing. */
export const createClient = ({
  baseUrl,
  credential,
  attempts = memoryAttempts(),
  // Unbound, a browser's fetch refuses to run.
  fetch = (url, init) => globalThis.fetch(url, init),
  maxRetries = 3,
}: ClientOptions): Client => {
  const inCookie = typeof credential === 'object' && credential.refreshCookie !== undefined;
  // Also to an API on another host of the page's site; without it the browser would neither keep
  // nor send the cookie.
  const ask: Fetch = inCookie ? (url, init) => fetch(url, { ...init, credentials: 'include' }) : fetch;
  const send = createSend(baseUrl.replace(/\/+$/, ''), ask);
  const authorized = createAuthorized(send, credentialSource(credential, send));
  const retrying = createRetrying(authorized, maxRetries);
  const methods = (operations: Record<string, OperationInfo>) =>
    Object.fromEntries(
      Object.entries(operations).map(([name, info]) => {
        const run = (info.list === true ? listing : method)(info, retrying);
        return [name, (input: Fields = {}, options: CallOptions = {}) => run(input, options)];
      }),
    );
  const services = Object.fromEntries(
    Object.entries(OPERATIONS).map(([service, operations]) => [service, methods(operations)]),
  ) as unknown as Operations;
  return {
    ...services,
    settlement: {
      ...services.settlement,
      settle: createSettle(authorized, attempts, services.settlement.get),
    },
  };
};
