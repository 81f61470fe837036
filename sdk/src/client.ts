import { type Call, createAuthorized, createRetrying } from './call.ts';
import { type Credential, credentialSource } from './credential.ts';
import { checkCredential } from './credential-kind.ts';
import { OPERATIONS, type Operations } from './generated/operations.ts';
import {
  checkBaseUrl,
  checkCount,
  checkFunction,
  checkMethods,
  checkNames,
  type OptionNames,
  unlessMissing,
} from './options.ts';
import { createRedeemOnce, type RedeemOnce } from './redeem.ts';
import { type AttemptStore, createSettle, memoryAttempts, type Settle } from './settle.ts';
import { createSend, type Fetch, type Fields, type Send } from './transport.ts';
import type { CallOptions, OperationInfo } from './types.ts';

export type ClientOptions = {
  /** The address of the API, for instance `https://api.example.com`. */
  baseUrl: string;
  /** Without one, only anonymous operations work. */
  credential?: Credential;
  /** Default: in memory. Use a durable store if a crash must not lose the answer of a payment. */
  attempts?: AttemptStore;
  /** Default: the platform's fetch. */
  fetch?: Fetch;
  /**
   * The number of retries of repeatable calls: GETs, and calls without a second effect. Settle has
   * `patienceMs`. Default 3.
   */
  maxRetries?: number;
};

/** Every operation by name: `client.<service>.<operation>(input)`. */
export type Client = Omit<Operations, 'settlement'> & {
  settlement: Omit<Operations['settlement'], 'settle'> & { settle: Settle; redeemOnce: RedeemOnce };
};

type Page = { data: unknown[]; next_cursor: string | null };

const method = (info: OperationInfo, call: Call) => async (input: Fields, options: CallOptions) =>
  (await call(info, input, options)).body;

/** A list. Awaited, it is one page. Iterated, it is all items from that page on. */
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

const OPTIONS = {
  baseUrl: true,
  credential: true,
  attempts: true,
  fetch: true,
  maxRetries: true,
} satisfies OptionNames<ClientOptions>;

/** @returns the base address without slashes at its end */
const checked = (options: ClientOptions): string => {
  checkNames('createClient', options, OPTIONS);
  const { credential } = options;
  if (typeof credential === 'string') checkCredential('credential', credential);
  else checkMethods('credential', credential, 'TokenStore, or pass a key', ['load', 'save']);
  checkMethods('attempts', options.attempts, 'AttemptStore', ['getOrInsert', 'remove']);
  checkFunction('fetch', options.fetch);
  checkCount('maxRetries', options.maxRetries, 'retries', 0);
  return checkBaseUrl(options.baseUrl);
};

/**
 * Creates a client of one API with one credential. It holds no connection, so it needs no close.
 * @throws TypeError that begins with the name of a wrong option; its calls throw it if an option is
 *   missing
 */
export const createClient = (options: ClientOptions): Client => {
  const baseUrl = unlessMissing<string | (() => never)>(
    'createClient',
    () => checked(options),
    (refuse) => refuse,
  );
  const {
    credential,
    attempts = memoryAttempts(),
    // A browser's fetch does not work unbound.
    fetch = (url, init) => globalThis.fetch(url, init),
    maxRetries = 3,
  } = options;
  const inCookie = typeof credential === 'object' && credential.refreshCookie !== undefined;
  // Without this the browser would not store or send the cookie for an API on another host.
  const ask: Fetch = inCookie ? (url, init) => fetch(url, { ...init, credentials: 'include' }) : fetch;
  const send: Send = typeof baseUrl === 'string' ? createSend(baseUrl, ask) : async () => baseUrl();
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
      redeemOnce: createRedeemOnce(services.settlement.redeem),
    },
  };
};
