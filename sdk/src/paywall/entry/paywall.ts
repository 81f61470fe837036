import { createTokenVerifier, type Environment } from '../../checks/tokens.ts';
import { type Client, createClient } from '../../client.ts';
import { checkKey, checkWholeKey } from '../../credential-kind.ts';
import {
  checkAddress,
  checkBaseUrl,
  checkCount,
  checkFunction,
  checkMethods,
  checkNames,
  MissingOptionError,
  type OptionNames,
  unlessMissing,
} from '../../options.ts';
import type { Fetch } from '../../transport.ts';
import type { Dialect, DialectFactory, PaywallContext } from '../base/dialect.ts';
import { FAILED } from '../base/ends.ts';
import { incomingOf } from '../base/incoming.ts';
import { createAcceptIncoming } from '../base/incoming-payments.ts';
import { createTerms } from '../base/incoming-terms.ts';
import {
  consoleLog,
  createErrorLog,
  type Log,
  type LogError,
  type PaywallEvent,
  reasonOf,
} from '../base/log.ts';
import type { MeteredRoute } from '../base/metered-route.ts';
import { setPayment } from '../base/payment.ts';
import { checkRoute, type PaidRoute } from '../base/route.ts';
import { memoryStore, type PaywallStore } from '../base/store.ts';
import { x402 } from '../dialects/x402.ts';
import { quittanceDialect } from '../quittance/quittance.ts';
import { createShares, type Shares } from '../quittance/shares.ts';
import { type Admit, createAdmit } from './admission.ts';
import { capture } from './capture.ts';
import { onlyInBrowsers, withPages } from './pages.ts';
import { checkVendor } from './start-check.ts';

export type PaywallOptions = {
  /** The payment API, for instance `https://api.example.com`. */
  baseUrl: string;
  /** `vendor_test_…` or `vendor_live_…`: it must belong to `environment`. */
  serviceKey: string;
  serviceId: string;
  environment: Environment;
  /**
   * The public address of this vendor, for instance `https://shop.example.com`, including a path
   * that a proxy removes. It is signed into every quote, so it is never taken from a request.
   */
  publicUrl: string;
  /**
   * Shared by the replicas. Without a store the paywall only knows the deliveries of this process,
   * and logs a warning.
   */
  store?: PaywallStore;
  /**
   * Further payment protocols, offered and recognised next to ours: `x402()`, `mpp({ secret })`, or
   * your own. Without this option, or with `mpp` alone, browsers of people are offered payments by
   * wallets too. `[]` turns that off.
   */
  dialects?: readonly (Dialect | DialectFactory)[];
  /**
   * Gets every event. Default: faults of the configuration and errors go to the console, each at
   * most once a minute. `() => {}` turns it off.
   */
  log?: (event: PaywallEvent) => void;
  /** The maximum body of a request. A longer one is refused before its price. Default 1 MiB. */
  maxBodyBytes?: number;
  /**
   * The maximum size of a stored delivery, for a buyer whose connection broke. Default 64 KiB.
   */
  maxStoredBytes?: number;
  /** Default: that of the platform. */
  fetch?: Fetch;
};

/** How long a 402 waits for the first terms of other protocols. */
const TERMS_MS = 5000;

export type Paywall = {
  readonly maxStoredBytes: number;
  /** Whether its store can count what is left of a tab. */
  readonly countsUnits: boolean;
  admit: Admit;
  /**
   * Asks the API once whether the key, the service and these prices are right: call it where the
   * program starts, and not in a build.
   * @throws ConfigurationError that names what is wrong; ApiError or NoAnswerError if the API
   *   cannot answer now
   */
  check: (...prices: string[]) => Promise<void>;
  /** Wraps a handler, which runs once the request is paid. */
  protect: <R extends Request, Rest extends unknown[]>(
    route: PaidRoute<R>,
    handler: Handler<R, Rest>,
  ) => Protected<R, Rest>;
  /** Wraps a handler whose buyers pay for what it used. */
  metered: <R extends Request, Rest extends unknown[]>(
    route: MeteredRoute<R>,
    handler: Handler<R, Rest>,
  ) => Protected<R, Rest>;
  /** Reports what was used of tabs. Call it before the process ends. Tabs stay open. */
  close: () => Promise<void>;
};
type Handler<R, Rest extends unknown[]> = (request: R, ...rest: Rest) => Response | Promise<Response>;
type Protected<R, Rest extends unknown[]> = (request: R, ...rest: Rest) => Promise<Response>;

const OPTIONS = {
  baseUrl: true,
  serviceKey: true,
  serviceId: true,
  environment: true,
  publicUrl: true,
  store: true,
  dialects: true,
  log: true,
  maxBodyBytes: true,
  maxStoredBytes: true,
  fetch: true,
} satisfies OptionNames<PaywallOptions>;

const SERVICE_ID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const checkService = ({ serviceKey, serviceId, environment }: PaywallOptions): void => {
  if (environment === undefined || (environment as string) === '')
    throw new MissingOptionError(`environment is missing: use 'test' or 'live', as the service key has it`);
  if (environment !== 'test' && environment !== 'live')
    throw new TypeError(`environment: use 'test' or 'live', as the service key has it in its prefix`);
  checkKey('serviceKey', serviceKey, 'service key');
  if (!serviceKey.startsWith(`vendor_${environment}_`))
    throw new TypeError(
      `serviceKey belongs to the other environment: environment '${environment}' needs a key that begins with vendor_${environment}_`,
    );
  checkWholeKey('serviceKey', serviceKey);
  if (serviceId === undefined || (serviceId as string) === '')
    throw new MissingOptionError('serviceId is missing: the console shows it under Services');
  if (!SERVICE_ID.test(serviceId ?? ''))
    throw new TypeError('serviceId: use the id of the service, a UUID. The console shows it under Services');
};

/** @returns the options with both addresses as they are used */
const checked = (options: PaywallOptions): PaywallOptions => {
  checkNames('createPaywall', options, OPTIONS);
  const { dialects } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  checkService(options);
  const publicUrl = checkAddress('publicUrl', options.publicUrl);
  checkMethods('store', options.store, 'PaywallStore', ['get', 'compareAndSet']);
  if (dialects !== undefined && !Array.isArray(dialects))
    throw new TypeError('dialects: pass a list, like [x402()]');
  checkFunction('log', options.log);
  checkFunction('fetch', options.fetch);
  checkCount('maxBodyBytes', options.maxBodyBytes, 'bytes');
  checkCount('maxStoredBytes', options.maxStoredBytes, 'bytes', 0);
  return { ...options, baseUrl, publicUrl };
};

/** @throws TypeError for a function that makes factories, which was not called */
const dialectOf = (given: Dialect | DialectFactory, context: PaywallContext): Dialect => {
  const dialect = typeof given === 'function' ? given(context) : given;
  if (typeof dialect?.offer === 'function' && typeof dialect.read === 'function') return dialect;
  throw new TypeError('dialects: each is a dialect, or what x402() and mpp({ secret }) return');
};

/**
 * The dialects that a vendor has chosen, and wallets for people. The service key is a secret that
 * all replicas share already.
 */
const furtherDialects = (
  { dialects, serviceKey }: PaywallOptions,
  context: PaywallContext,
): readonly Dialect[] => {
  const chosen = (dialects ?? []).map((each) => dialectOf(each, context));
  const isChosen = chosen.length === 0 || chosen.some(({ name }) => name !== 'mpp');
  if (dialects !== undefined && isChosen) return chosen;
  return [...chosen, onlyInBrowsers(x402({ secret: serviceKey })(context))];
};

const ownDialect = (
  { baseUrl, publicUrl, serviceId, environment }: PaywallOptions,
  client: Client,
  { store, shares }: { store: PaywallStore; shares: Shares },
  { log, logError }: { log: Log; logError: LogError },
): Dialect => {
  // With retired keys, because prepaid settlements outlive them. The API decides whether one is
  // valid.
  const publishedKeys = async () => (await client.gateway.jwks({ environment, all: 'true' })).keys;
  return quittanceDialect({
    client,
    verify: createTokenVerifier(environment, publishedKeys),
    serviceId,
    settleUrl: `${baseUrl}/v1/settle`,
    publicUrl,
    store,
    shares,
    onError: (error) => logError(error),
    log,
  });
};

/** What dialects that settle at this API use. Nothing is called before the first request. */
const contextOf = (options: PaywallOptions, client: Client, logError: LogError): PaywallContext => {
  const readTerms = () => client.settlement.foreignTerms({}, { signal: AbortSignal.timeout(TERMS_MS) });
  return {
    serviceId: options.serviceId,
    publicUrl: options.publicUrl,
    findTerms: createTerms(readTerms, (error) =>
      logError(error, { reason: `foreign_terms ${reasonOf(error)}` }),
    ),
    accept: createAcceptIncoming(client),
  };
};

/** A fetch that reports the headers of the answers from one address. */
const reportingTo =
  ({ report }: Shares, address: string, fetch: Fetch = (url, init) => globalThis.fetch(url, init)): Fetch =>
  async (url, init) => {
    const answer = await fetch(url, init);
    if (url === address) report(answer.headers);
    return answer;
  };

const MAX_STORED_BYTES = 65_536;

const createChecked = (given: PaywallOptions): Paywall => {
  const options = checked(given);
  const {
    log = consoleLog(),
    maxBodyBytes = 1_048_576,
    maxStoredBytes = MAX_STORED_BYTES,
    publicUrl,
  } = options;
  if (options.store === undefined)
    console.warn(
      'paywall: no store is configured, so only this process knows its deliveries. With replicas or restarts a buyer whose delivery failed cannot get it again. Configure a shared store, or memoryStore() if this is intended.',
    );
  const store = options.store ?? memoryStore();
  const logError = createErrorLog(log);
  const { baseUrl, serviceKey, fetch } = options;
  // No retries: the buyer gets 503 and repeats, so no request waits here.
  const shares = createShares();
  const client = createClient({
    baseUrl,
    credential: serviceKey,
    maxRetries: 0,
    fetch: reportingTo(shares, `${baseUrl}/v1/quote`, fetch),
  });
  const context = contextOf(options, client, logError);
  const dialects = [
    ownDialect(options, client, { store, shares }, { log, logError }),
    ...furtherDialects(options, context),
  ];
  const forPrograms = createAdmit({ dialects, store, publicUrl, maxBodyBytes, log, logError });
  const admit = withPages(forPrograms, { baseUrl, publicUrl });
  const countsUnits = store.take !== undefined;
  const protect: Paywall['protect'] = (route, handler) => {
    checkRoute({ admit, countsUnits }, route);
    return async (request, ...rest) => {
      const admission = await admit(incomingOf(request), request, route);
      if (admission.kind === 'answer') return admission.response;
      setPayment(request, admission.payment);
      try {
        return await capture(await handler(request, ...rest), admission, maxStoredBytes);
      } catch (error) {
        await admission.finish(FAILED);
        throw error;
      }
    };
  };
  return {
    maxStoredBytes,
    countsUnits,
    admit,
    check: (...prices) => checkVendor({ client, serviceId: options.serviceId, publicUrl, prices }),
    protect,
    metered: protect,
    close: async () => {
      await Promise.all(dialects.map((dialect) => dialect.close?.()));
    },
  };
};

/** A paywall whose options lack a value. Its requests say so. */
const createRefusing = (
  { store, maxStoredBytes = MAX_STORED_BYTES }: PaywallOptions,
  refuse: () => never,
): Paywall => {
  const admit = async () => refuse();
  const countsUnits = store === undefined || store.take !== undefined;
  const protect: Paywall['protect'] = (route) => {
    checkRoute({ admit, countsUnits }, route);
    return admit;
  };
  const check = async () => refuse();
  return { maxStoredBytes, countsUnits, admit, check, protect, metered: protect, close: async () => {} };
};

/**
 * Sells routes by HTTP 402: quotes, verifies, redeems and delivers once (docs/adr/0021).
 * @throws TypeError that begins with the name of a wrong option; requests throw it if an option is
 *   missing
 */
export const createPaywall = (options: PaywallOptions): Paywall =>
  unlessMissing(
    'createPaywall',
    () => createChecked(options),
    (refuse) => createRefusing(options, refuse),
  );
