import { boundedMap } from '../../bounded-map.ts';
import { ApiError } from '../../errors.ts';
import { WaitingError } from './throttle.ts';

/** An event for the vendor's log: ids, codes and sentences, never a token, key or body. */
export type PaywallEvent = {
  /** `captured`, `released`: how an authorization that was used has ended. */
  event:
    | 'quoted'
    | 'refused'
    | 'opened'
    | 'replayed'
    | 'delivered'
    | 'handler_failed'
    | 'closed'
    | 'captured'
    | 'released'
    | 'error';
  resource: string | null;
  payment_id?: string;
  request_id?: string | null;
  status?: number;
  /** A code: of the paywall, or of the API. */
  reason?: string;
  /** What the API, the store or a check of the configuration reported, in a sentence. */
  message?: string;
  /** Identifies the refused call in the API's logs. Name it to the support. */
  api_request_id?: string;
};
export type Log = (event: PaywallEvent) => void;

/** Credentials, tokens and passwords of addresses, which a message of a store may contain. */
const SECRETS = /(?:vendor|dk)_(?:test|live)_\w+|whsec_\S+|eyJ[\w-]*(?:\.[\w-]+)*/g;
const PASSWORDS = /:\/\/[^/@\s]+@/g;
const LONGEST_MESSAGE = 500;

/** A message as one line without secrets. */
const lineOf = (message: string): string =>
  message
    .replace(PASSWORDS, '://***@')
    .replace(SECRETS, '***')
    .replace(/\s+/g, ' ')
    .slice(0, LONGEST_MESSAGE);

export const reasonOf = (error: unknown): string =>
  error instanceof ApiError ? error.code : error instanceof Error ? error.name : 'unknown';

type Message = { message: string; cause?: unknown };
/** By its form, because an error of the platform's fetch may be of another realm. */
const isMessage = (value: unknown): value is Message =>
  typeof (value as Partial<Message> | null | undefined)?.message === 'string';

/** The message of an error, and of its first cause: a refused connection, an unknown host. */
const messageOf = (error: Message): string => {
  let first = error;
  while (isMessage(first.cause) && first.cause.message !== '') first = first.cause;
  return first === error ? error.message : `${error.message}: ${first.message}`;
};

/** The fields of an event that explain an error. */
export const detailsOf = (error: unknown): Pick<PaywallEvent, 'message' | 'api_request_id'> => ({
  ...(isMessage(error) ? { message: lineOf(messageOf(error)) } : {}),
  ...(error instanceof ApiError && error.requestId !== null ? { api_request_id: error.requestId } : {}),
});

/**
 * Logs errors. An error that many requests wait for is logged once, and one of a call that was not
 * made is not logged.
 */
export const createErrorLog = (log: Log) => {
  const logged = new WeakSet<object>();
  return (error: unknown, more: Partial<PaywallEvent> = {}) => {
    if (error instanceof WaitingError) return;
    if (typeof error === 'object' && error !== null) {
      if (logged.has(error)) return;
      logged.add(error);
    }
    log({ event: 'error', resource: null, reason: reasonOf(error), ...detailsOf(error), ...more });
  };
};
export type LogError = ReturnType<typeof createErrorLog>;

/** The reason of a refusal that only the vendor can change: key, service, price. */
export const CONFIGURATION = 'vendor_configuration';

/** The reasons of ends of authorizations that pay little or nothing: the fee takes it. */
export const [BELOW_FEE, HIGH_FEE] = ['below_fee', 'high_fee'] as const;

/** The reason of an end that its vendor has not asked for. */
export const ENDED_BY_API = 'ended_by_api';

/** What the console prints, because its vendor has to know or to change it. */
const PRINTED = new Set<string | undefined>([CONFIGURATION, BELOW_FEE, HIGH_FEE, ENDED_BY_API]);

/** The same line is printed once in this time, because every request may cause it. */
const REPEAT_MS = 60_000;
const MAX_LINES = 100;

/**
 * The log of a paywall without one of its own. It prints what the vendor has to change, because a
 * buyer gets only a code: errors of calls and of the store, faults of the configuration, and
 * authorizations that the API has ended, or of which the fee takes all or much.
 */
export const consoleLog = (): Log => {
  const printed = boundedMap<number>(MAX_LINES);
  return ({ event, resource, reason, message, api_request_id }) => {
    if (event !== 'error' && !PRINTED.has(reason)) return;
    const said = message === undefined ? reason : `${reason}: ${message}`;
    const line = `paywall: ${said}`;
    const at = printed.get(line);
    if (at !== undefined && Date.now() - at < REPEAT_MS) return;
    printed.set(line, Date.now());
    const about = [resource, api_request_id === undefined ? null : `request id ${api_request_id}`];
    const known = about.filter((each) => each !== null);
    console.error(known.length === 0 ? line : `${line} (${known.join(', ')})`);
  };
};
