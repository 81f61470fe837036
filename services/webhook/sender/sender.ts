import type { LookupFunction } from 'node:net';
import { invalid } from '../../../shared/contract/errors.ts';
import type { DeliveryError } from '../../../shared/contract/webhook.ts';
import { within } from '../../../shared/lib/within.ts';
import { postOnce } from './post.ts';
import { type Address, type Resolve, resolveByNameServers, resolveBySystem } from './resolve.ts';
import { isPublicAddress, literalAddress, refusalOf } from './target.ts';

/** The outcome of one attempt. */
export type Outcome = {
  statusCode: number | null;
  /** Null: the receiver accepted it. */
  error: DeliveryError | null;
  durationMs: number;
  /** The beginning of the answer. */
  response: string | null;
};
export type Sender = {
  /**
   * Checks a URL before it is saved.
   * @throws ServiceError validation_error for a URL that events must not be sent to
   */
  check: (url: string) => Promise<void>;
  /** POSTs once. Never throws: an error is an outcome. */
  post: (url: string, request: { headers: Record<string, string>; body: string }) => Promise<Outcome>;
};

const RESOLVE_MS = 3000;

class AddressRefused extends Error {}
class NotResolved extends Error {}

const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/;

const toDeliveryError = (error: unknown): DeliveryError => {
  if (error instanceof AddressRefused) return 'address_refused';
  if (error instanceof NotResolved) return 'not_resolved';
  const { name, code = '' } = error as { name: string; code?: string };
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout';
  return TLS.test(code) ? 'tls' : 'unreachable';
};

const refuse = (message: string): never => {
  throw invalid('url', message);
};

const notInTime = () => new NotResolved('no answer in time');

/** The addresses of a name. All of them must be public where private ones are not allowed. */
const checkedResolve =
  (resolve: Resolve, allowPrivate: boolean): Resolve =>
  async (hostname) => {
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new NotResolved('the name does not resolve', { cause });
    });
    if (addresses.length === 0) throw new NotResolved('the name has no address');
    if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
      throw new AddressRefused('not a public address');
    return addresses;
  };

/** The same in the form that a connection calls. */
const toLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses: readonly Address[]) => {
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

/**
 * Sends to the URLs of customers. Every connection resolves the name again and goes to the address
 * that was checked, so a name that resolves to another address later reaches nothing. All addresses
 * of a name must be public, because an attacker could influence which one is used. No redirect is
 * followed, no proxy of the environment is used, and no connection is used twice.
 * @param resolve resolves a name to all its addresses
 */
export const createSender = ({
  allowPrivate,
  timeoutMs,
  resolve = allowPrivate ? resolveBySystem : resolveByNameServers(),
}: {
  allowPrivate: boolean;
  timeoutMs: number;
  resolve?: Resolve;
}): Sender => {
  const resolveChecked = checkedResolve(resolve, allowPrivate);
  const lookup = toLookup(resolveChecked);
  const refusal = (url: URL): string | null => (allowPrivate ? null : refusalOf(url));

  return {
    check: async (text) => {
      if (allowPrivate) return;
      const url = new URL(text);
      const reason = refusal(url);
      if (reason !== null) refuse(reason);
      if (literalAddress(url) !== null) return;
      try {
        await within(RESOLVE_MS, resolveChecked(url.hostname), notInTime);
      } catch (error) {
        if (error instanceof AddressRefused) refuse('must lead to a public address');
        if (error instanceof NotResolved) refuse('must be a name that resolves');
        throw error;
      }
    },
    post: async (text, message) => {
      const startedAt = performance.now();
      const outcome = (parts: Omit<Outcome, 'durationMs'>): Outcome => ({
        ...parts,
        durationMs: Math.round(performance.now() - startedAt),
      });
      try {
        const url = new URL(text);
        // Checked again, because an address in the URL itself is connected to without `lookup`.
        if (refusal(url) !== null) throw new AddressRefused('not a public target');
        const { statusCode, response } = await postOnce(url, message, { lookup, timeoutMs });
        if (statusCode >= 200 && statusCode < 300) return outcome({ statusCode, error: null, response });
        const error = statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status';
        return outcome({ statusCode, error, response });
      } catch (error) {
        return outcome({ statusCode: null, error: toDeliveryError(error), response: null });
      }
    },
  };
};
