import { ACCEPT_PAYMENT_HEADER, acceptedOf } from '../../accept-payment.ts';
import { ApiError, NoAnswerError } from '../../errors.ts';
import { TRIAL_HEADER } from '../../pay/base/dialects.ts';
import {
  answer,
  failed,
  fits,
  IN_PROGRESS,
  isRefusal,
  isUsedUp,
  type Refusal,
  refusalWith,
  refuse,
  restore,
  unavailable,
  withVaried,
} from '../base/answers.ts';
import { createAddressCheck } from '../base/configuration.ts';
import { type Begun, createDeliveries, type Deliveries } from '../base/deliveries.ts';
import type { Bill, Dialect, Offer, Payment } from '../base/dialect.ts';
import { type BuyerLeft, delivered, type Finish } from '../base/ends.ts';
import {
  ConsumedBodyError,
  type Incoming,
  isNavigation,
  requestHash,
  requestIdOf,
  resourceIn,
} from '../base/incoming.ts';
import { CONFIGURATION, detailsOf, type Log, type LogError, type PaywallEvent } from '../base/log.ts';
import type { Metering } from '../base/meter.ts';
import type { PaywallPayment } from '../base/payment.ts';
import { billOf, type PaidRoute } from '../base/route.ts';
import { isInMemory, type PaywallStore, UnsharedStoreError } from '../base/store.ts';
import { networkOf } from '../dialects/networks.ts';
import { createMetered, type Metered } from '../metered/metered.ts';
import { createAboutTab } from './about-tab.ts';

export type Admission =
  | { kind: 'answer'; response: Response }
  | {
      kind: 'deliver';
      payment: PaywallPayment;
      /** Headers that the answer must have. */
      headers: Record<string, string>;
      /** The answer is not stored, so its body need not be copied. */
      isRepeatable: boolean;
      /** What the answer costs, if its route is metered. */
      metering: Metering | null;
      finish: Finish;
      left: BuyerLeft;
    };

/**
 * Decides about one request: an answer, or a delivery, after which `finish` must be called. It is
 * meant for adapters; routes of web-standard requests use `protect`.
 */
export type Admit = <R>(incoming: Incoming, request: R, route: PaidRoute<R>) => Promise<Admission>;

/** The challenges of all dialects, as the client prefers them. */
const challengeOf = (offers: readonly Offer[], incoming: Incoming): Record<string, string> => {
  const offered = offers.flatMap(({ challenges = [] }) => challenges);
  const texts = acceptedOf(incoming.header(ACCEPT_PAYMENT_HEADER), offered).map(({ text }) => text);
  return texts.length === 0 ? {} : { 'www-authenticate': texts.join(', ') };
};

/** The refusal of a request whose price cannot be named, because of an error of a dialect. */
const noQuote = (error: unknown): Refusal =>
  unavailable(
    'no_quote',
    error instanceof ApiError || error instanceof NoAnswerError ? error.retryAfterMs : null,
  );

/** A payment that is refused. */
type Failure = { dialect: Dialect; refusal: Refusal; about: Partial<PaywallEvent> };

/**
 * What the dialects offer. One that fails does not keep buyers from the others, and `Retry-After`
 * says when it may have an offer.
 * @throws what one has thrown, if no dialect has an offer
 */
const createOffersOf =
  (dialects: readonly Dialect[], logError: LogError) =>
  async (bill: Bill, incoming: Incoming, failure?: Failure): Promise<Offer[] | Refusal> => {
    const ended = await Promise.allSettled(
      dialects.map((dialect) =>
        dialect.offer(bill, incoming, failure?.dialect === dialect ? failure.refusal : null),
      ),
    );
    const offered = ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const errors = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const refusal = offered.find(isRefusal);
    if (refusal !== undefined) return refusal;
    const offers = (offered as Offer[]).filter((offer) => Object.keys(offer).length > 0);
    if (errors.length === 0) return offers;
    // People pay a quote only, and get a page that waits for one.
    if (offers.length === 0 || isNavigation(incoming)) throw errors[0];
    for (const error of errors) logError(error, { resource: bill.resource });
    return [...offers, { headers: { 'retry-after': String(noQuote(errors[0]).retryAfterSeconds) } }];
  };

/** Answers of the paywall itself, each with its event. */
const createAnswers = (dialects: readonly Dialect[], log: Log, logError: LogError) => {
  const offersOf = createOffersOf(dialects, logError);
  const refused = (
    resource: string | null,
    refusal: Refusal,
    more: Partial<PaywallEvent> = {},
  ): Admission => {
    const { status, reason, cause } = refusal;
    log({ event: 'refused', resource, status, reason, ...detailsOf(cause), ...more });
    return { kind: 'answer', response: refuse(refusal) };
  };

  /**
   * The 402, with the offers of all dialects, also after a payment that is refused. It has no price
   * while nothing can be delivered, because the payment would have moved before that is known.
   */
  const charge = async (bill: Bill, incoming: Incoming, failure?: Failure): Promise<Admission> => {
    const { resource } = bill;
    try {
      const offers = (await incoming.ready?.()) ?? (await offersOf(bill, incoming, failure));
      if (isRefusal(offers)) return refused(resource, offers);
      const reason = failure?.refusal.reason;
      if (reason === undefined) log({ event: 'quoted', resource, status: 402 });
      else {
        const details = detailsOf(failure?.refusal.cause);
        log({ event: 'refused', resource, status: 402, reason, ...details, ...failure?.about });
      }
      const said =
        reason === undefined
          ? { error: 'payment_required' }
          : { error: failure?.refusal.error, details: { reason } };
      const body = Object.assign(said, ...offers.map((offer) => offer.body));
      const headers = Object.assign(
        {},
        ...offers.map((offer) => offer.headers),
        challengeOf(offers, incoming),
      );
      return { kind: 'answer', response: answer(402, body, headers) };
    } catch (error) {
      logError(error, { resource });
      return refused(resource, noQuote(error));
    }
  };
  /**
   * Answers a refused payment, with new offers if it is used up, or if its clients begin again from
   * each 402.
   */
  const refuseTo = async (bill: Bill, incoming: Incoming, failure: Failure): Promise<Admission> =>
    isUsedUp(failure.refusal) || (failure.refusal.status === 402 && failure.dialect.offersAgain === true)
      ? charge(bill, incoming, failure)
      : refused(bill.resource, failure.refusal, failure.about);
  return { refused, charge, refuseTo };
};

/** The payment of a request, or the refusal of one without an id. Null: there is no payment. */
const presentedTo = async (
  dialects: readonly Dialect[],
  incoming: Incoming,
  bill: Bill,
): Promise<Payment | Failure | null> => {
  for (const dialect of dialects) {
    const read = await dialect.read(incoming, bill);
    if (read === null) continue;
    return 'take' in read
      ? { ...read, key: `${dialect.name}:${read.id}`, dialect }
      : { dialect, refusal: read, about: {} };
  }
  return null;
};

/** The answer to a delivery that cannot begin. */
const UNDELIVERABLE = {
  spent: failed('spent'),
  busy: IN_PROGRESS,
} satisfies Record<string, Refusal>;

const NO_BYTES = new Uint8Array();
const TOO_LARGE = refusalWith({ status: 413, error: 'payload_too_large', reason: 'body' });
const invalid = (reason: string): Refusal => refusalWith({ status: 400, error: 'validation_error', reason });

/** The body of a request, or why it cannot be served, whether it is paid or not. */
const bodyIn = async (incoming: Incoming, limit: number): Promise<Uint8Array | Refusal> => {
  try {
    return (await incoming.body(limit)) ?? TOO_LARGE;
  } catch (cause) {
    return { ...(cause instanceof ConsumedBodyError ? unavailable(CONFIGURATION) : invalid('body')), cause };
  }
};

type Deliver = Extract<Begun, { kind: 'deliver' }>;

/** A stored answer is for the headers that it depends on. For any others the payment is spent. */
const fitting = async ({ header }: Incoming, beginning: Promise<Begun>): Promise<Begun> => {
  const begun = await beginning;
  return begun.kind === 'replay' && !fits(begun.answer, header) ? { kind: 'spent' } : begun;
};

/** Adds to the end of a delivery its events, and what its answer depends on. */
const logged = (
  log: Log,
  about: Omit<PaywallEvent, 'event'>,
  { finish, left }: Deliver,
  { header }: Incoming,
): { finish: Finish; left: BuyerLeft } => {
  log({ event: 'opened', ...about });
  const disconnected = (): void => log({ event: 'handler_failed', ...about, reason: 'disconnected' });
  return {
    finish: async (end) => {
      if (end.kind === 'gone') disconnected();
      else if (end.kind !== 'delivered') log({ event: 'handler_failed', ...about });
      else log({ event: 'delivered', ...about, ...(end.answer !== null && { status: end.answer.status }) });
      const stored = end.kind === 'delivered' ? end.answer : null;
      await finish(stored === null ? end : delivered(withVaried(stored, header)));
    },
    left: async () => {
      disconnected();
      await left();
    },
  };
};

type AdmissionDeps = {
  dialects: readonly Dialect[];
  store: PaywallStore;
  publicUrl: string;
  maxBodyBytes: number;
  log: Log;
  logError: LogError;
};

/** The payment, which is not taken while nothing can be delivered. */
const withReadiness = (payment: Payment, { ready }: Incoming): Payment => ({
  ...payment,
  mismatch: async (bill) => (await payment.mismatch(bill)) ?? (await ready?.()) ?? null,
});

/**
 * Why a payment does not pay for a bill, whatever the body of its request is, or null. One with a
 * record was judged before.
 */
const createJudge =
  ({ store, logError }: AdmissionDeps) =>
  async (payment: Payment, bill: Bill): Promise<Refusal | null> => {
    try {
      return (await store.get(payment.key)) === null ? await payment.mismatch(bill) : null;
    } catch (error) {
      logError(error, { resource: bill.resource, payment_id: payment.id });
      return unavailable('store');
    }
  };

/** Delivers for payments. */
const createRedeem = (
  deps: AdmissionDeps,
  answers: ReturnType<typeof createAnswers>,
  { deliveries, metered }: { deliveries: Deliveries; metered: Metered },
) => {
  const { store, log, logError } = deps;
  const { refuseTo } = answers;

  /** Delivers for a payment, or answers why not. */
  return async (
    payment: Payment,
    bill: Bill,
    incoming: Incoming,
    { requestId, body }: { requestId: string | null; body: Uint8Array },
  ): Promise<Admission> => {
    const about = { resource: bill.resource, payment_id: payment.id, request_id: requestId };
    const hash = await requestHash(incoming, requestId, body);
    // Such a payment is for many requests, so each request has its own record.
    const isForMany = bill.units !== null || bill.metered?.isTab === true;
    const key = isForMany && payment.isWhole !== true ? `${payment.key}:${hash}` : payment.key;
    const request = { key, hash, requestId };
    const asked = withReadiness(payment, incoming);
    const beginning =
      bill.metered === null
        ? deliveries.once({
            ...request,
            order: asked.order,
            refusal: () => asked.mismatch(bill),
            open: (taking) => asked.take(bill, taking),
          })
        : metered.begin(asked, bill, bill.metered, request);
    const begun = await fitting(incoming, beginning).catch((error: unknown) => {
      logError(error, about);
      return unavailable('store');
    });
    const { dialect } = payment;
    switch (begun.kind) {
      case 'refused':
        return refuseTo(bill, incoming, { dialect, refusal: begun, about });
      case 'replay':
        log({ event: 'replayed', status: begun.answer.status, ...about });
        return { kind: 'answer', response: restore(begun.answer) };
      case 'deliver': {
        const { id: deliveryId, receipt, metering = null } = begun;
        const paymentId = receipt?.paymentId ?? payment.id;
        const meter = metering === null ? {} : { meter: metering.meter };
        const paid = { paymentId, deliveryId, amount: bill.amount, payer: receipt?.payer ?? null, requestId };
        return {
          kind: 'deliver',
          payment: { ...paid, ...meter },
          headers: receipt?.headers ?? {},
          isRepeatable: begun.isRepeatable === true,
          metering,
          ...logged(log, { ...about, payment_id: paymentId }, begun, incoming),
        };
      }
      default:
        if (begun.kind === 'spent' && begun.isUnknown === true && isInMemory(store))
          logError(new UnsharedStoreError(payment.id), about);
        return refuseTo(bill, incoming, { dialect, refusal: UNDELIVERABLE[begun.kind], about });
    }
  };
};

/** Decides about the requests of one paywall. */
export const createAdmit = (deps: AdmissionDeps): Admit => {
  const { dialects, publicUrl, maxBodyBytes, log, logError } = deps;
  const answers = createAnswers(dialects, log, logError);
  const { refused, charge, refuseTo } = answers;
  const onError = (error: unknown): void => logError(error);
  const deliveries = createDeliveries(deps.store, onError);
  const metered = createMetered({ store: deps.store, deliveries, onError });
  const redeem = createRedeem(deps, answers, { deliveries, metered });
  const aboutTab = createAboutTab({ log, logError, metered });
  const judge = createJudge(deps);
  const checkAddress = createAddressCheck(publicUrl, logError);

  return async (incoming, request, route) => {
    // A preflight is not charged, so it must not run the handler. CORS belongs before the paywall.
    if (incoming.method === 'OPTIONS')
      return { kind: 'answer', response: new Response(null, { status: 204 }) };
    const resource = resourceIn(publicUrl, incoming.target);
    if (resource === null) return refused(resource, invalid('path'));
    const requestId = requestIdOf(incoming);
    if (requestId === undefined) return refused(resource, invalid('x-payment-request-id'));
    // An answer without a body cannot carry a quote, and must not consume a payment.
    if (incoming.method === 'HEAD')
      return refused(resource, refusalWith({ status: 402, error: 'payment_required', reason: 'head' }));
    // Before the price: a buyer must not pay for a request that will be refused anyway.
    const isLast = incoming.isBodyLast === true;
    const first = isLast ? NO_BYTES : await bodyIn(incoming, maxBodyBytes);
    if (isRefusal(first)) return refused(resource, first);

    const priced = await billOf(resource, request, route);
    if ('fault' in priced) return refused(resource, { ...unavailable(CONFIGURATION), cause: priced.fault });
    const isTrial = incoming.header(TRIAL_HEADER) !== null;
    const bill: Bill = { ...priced, network: networkOf(incoming.address), isTrial };
    // Some bodies can be read only once.
    const read: Incoming = { ...incoming, body: async () => first };
    const presented = await presentedTo(dialects, read, bill);
    if (presented === null) {
      checkAddress(read, resource);
      return charge(bill, read);
    }
    if (!('take' in presented)) return refuseTo(bill, read, presented);
    const said = await aboutTab(presented, bill, read, requestId);
    if (said !== null && !isRefusal(said)) return { kind: 'answer', response: said };
    if (said !== null) {
      const about = { resource, payment_id: presented.id };
      return refuseTo(bill, read, { dialect: presented.dialect, refusal: said, about });
    }
    if (!isLast) return redeem(presented, bill, read, { requestId, body: first });
    // Memory is for those who pay.
    const refusal = await judge(presented, bill);
    if (refusal !== null) {
      const about = { resource, payment_id: presented.id, request_id: requestId };
      return refuseTo(bill, read, { dialect: presented.dialect, refusal, about });
    }
    const body = await bodyIn(incoming, maxBodyBytes);
    if (isRefusal(body)) return refused(resource, body);
    return redeem(presented, bill, read, { requestId, body });
  };
};
