import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { invalid } from '../../../shared/contract/errors.ts';
import type { DeliveryError } from '../../../shared/contract/webhook.ts';
import { isPublicAddress, literalAddress, refusalOf } from '../endpoints/model/target.ts';

/** What came of one try. */
export type Outcome = {
  statusCode: number | null;
  /** Null: it was taken. */
  error: DeliveryError | null;
  durationMs: number;
  /** The beginning of the answer. */
  response: string | null;
};
export type Sender = {
  /** @throws ServiceError validation_error for a URL that may not be sent to, now that it is saved */
  check: (url: string) => Promise<void>;
  /** POSTs once. Never throws: what goes wrong is the outcome. */
  post: (url: string, request: { headers: Record<string, string>; body: string }) => Promise<Outcome>;
};
type Address = { address: string; family: number };
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

const RESPONSE_CHARACTERS = 200;
/** Of an answer so much is read; a receiver that never ends must not fill the process. */
const RESPONSE_BYTES = 1024;
const RESOLVE_MS = 3000;

/** As this machine does it, its hosts file included. */
const resolveHere: Resolve = (hostname) => systemLookup(hostname, { all: true });

/**
 * By asking name servers alone: no hosts file, no search domain, and no thread of the few that the system's look-up keeps
 * busy, which a stranger's slow name server would take from everybody.
 */
const askNameServers = (): Resolve => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return answers.flatMap((answer, index) =>
      answer.status === 'rejected'
        ? []
        : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    );
  };
};

class AddressRefused extends Error {}
class NotResolved extends Error {}

const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/;

const errorOf = (error: unknown): DeliveryError => {
  if (error instanceof AddressRefused) return 'address_refused';
  if (error instanceof NotResolved) return 'not_resolved';
  const { name, code = '' } = error as { name: string; code?: string };
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout';
  return TLS.test(code) ? 'tls' : 'unreachable';
};

/** Readable and harmless wherever it is shown. */
const printable = (bytes: Buffer): string | null => {
  const text = bytes
    .toString('utf8')
    .replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}\s]+/gu, ' ')
    .trim();
  return text === '' ? null : [...text].slice(0, RESPONSE_CHARACTERS).join('');
};

const refuse = (message: string): never => {
  throw invalid('url', message);
};

const withTimeout = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(reject, ms, new NotResolved('no answer in time'));
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

/**
 * Sends to strangers' addresses. A name is resolved by us at every connection, and the connection goes to the address that was
 * checked: a name that leads elsewhere the second time leads nowhere. All its addresses must be public, else the
 * choice among them would be the attacker's. No redirect is followed, no proxy is taken from the environment, no
 * connection is used twice.
 * @param resolve all addresses of a name
 */
export const createSender = ({
  allowPrivate,
  timeoutMs,
  resolve = allowPrivate ? resolveHere : askNameServers(),
}: {
  allowPrivate: boolean;
  timeoutMs: number;
  resolve?: Resolve;
}): Sender => {
  const addressesOf = async (hostname: string): Promise<readonly Address[]> => {
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new NotResolved('the name does not resolve', { cause });
    });
    if (addresses.length === 0) throw new NotResolved('the name has no address');
    if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
      throw new AddressRefused('not a public address');
    return addresses;
  };

  const lookup: LookupFunction = (hostname, options, callback) => {
    addressesOf(hostname).then(
      (addresses) => {
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  const request = (
    url: URL,
    { headers, body }: { headers: Record<string, string>; body: string },
  ): Promise<{ statusCode: number; response: string | null }> =>
    new Promise((resolve, reject) => {
      const { Agent, request: open } = url.protocol === 'https:' ? https : http;
      let answered: (() => void) | undefined;
      const outgoing = open(
        url,
        {
          method: 'POST',
          headers: {
            ...headers,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'user-agent': 'Quittance-Webhooks/1',
          },
          agent: new Agent({ keepAlive: false }),
          lookup,
          signal: AbortSignal.timeout(timeoutMs),
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          let size = 0;
          const done = () => {
            outgoing.destroy();
            resolve({
              statusCode: incoming.statusCode ?? 0,
              response: printable(Buffer.concat(chunks).subarray(0, RESPONSE_BYTES)),
            });
          };
          incoming.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            size += chunk.length;
            if (size >= RESPONSE_BYTES) done();
          });
          incoming.on('end', done);
          // The status was the answer; what follows it is for the log.
          incoming.on('error', done);
          answered = done;
        },
      );
      outgoing.on('error', (error) => (answered === undefined ? reject(error) : answered()));
      // The one end that is no error to Node is a switch of protocols. A place that is never given back is everybody's.
      outgoing.on('close', () => {
        if (answered === undefined) reject(new Error('closed without an answer'));
      });
      outgoing.end(body);
    });

  const refused = (url: URL): string | null => (allowPrivate ? null : refusalOf(url));

  return {
    check: async (text) => {
      if (allowPrivate) return;
      const url = new URL(text);
      const refusal = refused(url);
      if (refusal !== null) refuse(refusal);
      if (literalAddress(url) !== null) return;
      try {
        await withTimeout(addressesOf(url.hostname), RESOLVE_MS);
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
        // Judged again: an address in the URL itself is connected to without any look-up.
        if (refused(url) !== null) throw new AddressRefused('not a target');
        const { statusCode, response } = await request(url, message);
        if (statusCode >= 200 && statusCode < 300) return outcome({ statusCode, error: null, response });
        const error = statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status';
        return outcome({ statusCode, error, response });
      } catch (error) {
        return outcome({ statusCode: null, error: errorOf(error), response: null });
      }
    },
  };
};
