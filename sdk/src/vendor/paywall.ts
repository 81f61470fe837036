import { createClient } from '../client.ts';
import { ApiError, NoAnswerError } from '../errors.ts';
import { createTokenVerifier, type Environment } from '../tokens.ts';
import type { Fetch } from '../transport.ts';
import { answer, failed, type Refusal, refuse, restore, unavailable } from './answers.ts';
import { capture } from './capture.ts';
import { createDeliveries, type Finish, type Opening } from './deliveries.ts';
import type { Bill, Dialect, Offer } from './dialect.ts';
import { type Incoming, incomingOf, requestHash, requestIdOf, resourceIn } from './incoming.ts';
import { type PaywallPayment, setPayment } from './payment.ts';
import { quittanceDialect, WaitingError } from './quittance.ts';
import { memoryStore, type PaywallStore } from './store.ts';

/** An event for the vendor's log: ids and codes, never a token, key or body. */
export type PaywallEvent = {
  event: 'quoted' | 'refused' | 'opened' | 'replayed' | 'delivered' | 'handler_failed' | 'error';
  resource: string | null;
  payment_id?: string;
  request_id?: string | null;
  status?: number;
  reason?: string;
};

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
  /** Further payment protocols, offered and recognised next to ours. */
  dialects?: readonly Dialect[];
  log?: (event: PaywallEvent) => void;
  /** The maximum body of a request with a payment, which is hashed. Default 1 MiB. */
  maxBodyBytes?: number;
  /**
   * The maximum size of a stored delivery, for a buyer whose connection broke. Default 64 KiB.
   */
  maxStoredBytes?: number;
  /** Default: that of the platform. */
  fetch?: Fetch;
};

/** The price of a route: USDC micro-units as decimal digits, more than the fee. */
export type Price<R> = string | ((request: R) => string | Promise<string>);
export type PaidRoute<R> = {
  price: Price<R>;
  /** The price buys this many requests to the address with one on-chain payment. */
  prepaid?: { units: number };
};

export type Admission =
  | { kind: 'answer'; response: Response }
  | {
      kind: 'deliver';
      payment: PaywallPayment;
      finish: Finish;
    };

export type Paywall = {
  readonly maxStoredBytes: number;
  /**
   * Decides about one request: an answer, or a delivery, after which `finish` must be called. It is
   * meant for adapters; routes of web-standard requests use `protect`.
   */
  admit: <R>(incoming: Incoming, request: R, route: PaidRoute<R>) => Promise<Admission>;
  /** Wraps a handler, which runs once the request is paid. */
  protect: <R extends Request, Rest extends unknown[]>(
    route: PaidRoute<R>,
    handler: (request: R, ...rest: Rest) => Response | Promise<Response>,
  ) => (request: R, ...rest: Rest) => Promise<Response>;
};

const AMOUNT = /^[1-9][0-9]{0,18}$/;

const checked = ({ publicUrl, serviceKey, environment }: PaywallOptions): string => {
  if (!serviceKey.startsWith(`vendor_${environment}_`))
    throw new TypeError(`serviceKey must be a key of the ${environment} environment.`);
  const { search, hash, protocol } = new URL(publicUrl);
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '')
    throw new TypeError('publicUrl must be an http(s) address without a query.');
  return publicUrl.replace(/\/+$/, '');
};

const billOf = async <R>(resource: string, request: R, route: PaidRoute<R>): Promise<Bill> => {
  const { price, prepaid } = route;
  const amount = typeof price === 'function' ? await price(request) : price;
  if (!AMOUNT.test(amount)) throw new TypeError('A price must be decimal digits of USDC micro-units.');
  return { resource, amount, units: prepaid?.units ?? null, route };
};

const isRefusal = (said: Offer | Refusal): said is Refusal => 'status' in said;

const reasonOf = (error: unknown): string =>
  error instanceof ApiError ? error.code : error instanceof Error ? error.name : 'unknown';

/**
 * Sells routes by HTTP 402: quotes, verifies, redeems and delivers once (docs/adr/0021).
 * @throws TypeError if the settings contradict each other
 */
export const createPaywall = (options: PaywallOptions): Paywall => {
  const { baseUrl, serviceKey, serviceId, environment, fetch, log = () => {} } = options;
  const { maxBodyBytes = 1_048_576, maxStoredBytes = 65_536 } = options;
  const publicUrl = checked(options);
  if (options.store === undefined)
    console.warn(
      'paywall: no store is configured, so only this process knows its deliveries. With replicas or restarts a buyer whose delivery failed cannot get it again. Configure a shared store, or memoryStore() if this is intended.',
    );
  // No retries: the buyer gets 503 and repeats, so no request waits here.
  const client = createClient({
    baseUrl,
    credential: serviceKey,
    maxRetries: 0,
    ...(fetch === undefined ? {} : { fetch }),
  });
  // With retired keys, because prepaid settlements outlive them. The API decides whether one is
  // valid.
  const publishedKeys = async () => (await client.gateway.jwks({ environment, all: 'true' })).keys;
  const store = options.store ?? memoryStore();
  /** Many requests can wait for one call. Its error is logged once. */
  const logged = new WeakSet<object>();
  const logError = (error: unknown, more: Partial<PaywallEvent> = {}) => {
    if (error instanceof WaitingError) return;
    if (typeof error === 'object' && error !== null) {
      if (logged.has(error)) return;
      logged.add(error);
    }
    log({ event: 'error', resource: null, reason: reasonOf(error), ...more });
  };
  const dialects: readonly Dialect[] = [
    quittanceDialect({
      client,
      verify: createTokenVerifier(environment, publishedKeys),
      serviceId,
      settleUrl: `${baseUrl.replace(/\/+$/, '')}/v1/settle`,
      store,
      onError: (error) => logError(error),
    }),
    ...(options.dialects ?? []),
  ];
  const once = createDeliveries(store, (error) => logError(error));

  const refused = (
    resource: string | null,
    refusal: Refusal,
    more: Partial<PaywallEvent> = {},
  ): Admission => {
    log({ event: 'refused', resource, status: refusal.status, reason: refusal.reason, ...more });
    return { kind: 'answer', response: refuse(refusal) };
  };

  const charge = async (bill: Bill, incoming: Incoming): Promise<Admission> => {
    const { resource } = bill;
    try {
      const said = await Promise.all(dialects.map((dialect) => dialect.offer(bill, incoming)));
      const refusal = said.find(isRefusal);
      if (refusal !== undefined) return refused(resource, refusal);
      const offers = said as Offer[];
      log({ event: 'quoted', resource, status: 402 });
      const body = Object.assign({ error: 'payment_required' }, ...offers.map((offer) => offer.body));
      const headers = Object.assign({}, ...offers.map((offer) => offer.headers));
      return { kind: 'answer', response: answer(402, body, headers) };
    } catch (error) {
      const waitMs = error instanceof ApiError || error instanceof NoAnswerError ? error.retryAfterMs : null;
      logError(error, { resource });
      return refused(resource, unavailable('no_quote', waitMs));
    }
  };

  const present = async (incoming: Incoming, bill: Bill) => {
    for (const dialect of dialects) {
      const read = await dialect.read(incoming, bill);
      if (read === null) continue;
      return 'take' in read ? { ...read, id: `${dialect.name}:${read.id}`, name: read.id } : read;
    }
    return null;
  };

  const admit: Paywall['admit'] = async (incoming, request, route) => {
    // A preflight is not charged, so it must not run the handler. CORS belongs before the paywall.
    if (incoming.method === 'OPTIONS')
      return { kind: 'answer', response: new Response(null, { status: 204 }) };
    const resource = resourceIn(publicUrl, incoming.target);
    const invalid = (reason: string) => refused(resource, { status: 400, error: 'validation_error', reason });
    if (resource === null) return invalid('path');
    const requestId = requestIdOf(incoming);
    if (requestId === undefined) return invalid('x-payment-request-id');
    // An answer without a body cannot carry a quote, and must not consume a payment.
    if (incoming.method === 'HEAD')
      return refused(resource, { status: 402, error: 'payment_required', reason: 'head' });

    const bill = await billOf(resource, request, route);
    const presented = await present(incoming, bill);
    if (presented === null) return charge(bill, incoming);
    if (!('take' in presented)) return refused(resource, presented);
    const about = { payment_id: presented.name, request_id: requestId };

    const body = await incoming.body(maxBodyBytes);
    if (body === null)
      return refused(resource, { status: 413, error: 'payload_too_large', reason: 'body' }, about);
    const hash = await requestHash(incoming, requestId, body);
    let exhausted = false;
    const open = async (deliveryId: string): Promise<Opening> => {
      const taken = await presented.take(bill, deliveryId);
      exhausted = taken === 'exhausted';
      return taken === 'exhausted' ? failed(taken) : taken;
    };
    // A prepaid settlement pays for many requests, so each request has its own record.
    const key = bill.units === null ? presented.id : `${presented.id}:${hash}`;
    const begun = await once({ key, hash, open }).catch((error: unknown) => {
      logError(error, { resource, ...about });
      return { kind: 'refused' as const, refusal: unavailable('store') };
    });

    if (exhausted) return charge(bill, incoming);
    if (begun.kind === 'refused') return refused(resource, begun.refusal, about);
    if (begun.kind === 'spent') return refused(resource, failed('spent'), about);
    if (begun.kind === 'busy')
      return refused(
        resource,
        { status: 503, error: 'payment_in_progress', reason: 'in_progress', retryAfterSeconds: 1 },
        about,
      );
    if (begun.kind === 'replay') {
      log({ event: 'replayed', resource, status: begun.answer.status, ...about });
      return { kind: 'answer', response: restore(begun.answer) };
    }
    log({ event: 'opened', resource, ...about });
    const finish: Finish = async (outcome) => {
      const event = outcome === 'failed' ? 'handler_failed' : 'delivered';
      log({
        event,
        resource,
        ...(outcome === null || outcome === 'failed' ? {} : { status: outcome.status }),
        ...about,
      });
      await begun.finish(outcome);
    };
    const payment = { paymentId: presented.name, deliveryId: begun.id, amount: bill.amount, requestId };
    return { kind: 'deliver', payment, finish };
  };

  return {
    maxStoredBytes,
    admit,
    protect:
      (route, handler) =>
      async (request, ...rest) => {
        const admission = await admit(incomingOf(request), request, route);
        if (admission.kind === 'answer') return admission.response;
        setPayment(request, admission.payment);
        try {
          return await capture(await handler(request, ...rest), admission.finish, maxStoredBytes);
        } catch (error) {
          await admission.finish('failed');
          throw error;
        }
      },
  };
};
