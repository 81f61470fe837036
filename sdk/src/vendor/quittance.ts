import type { Client } from '../client.ts';
import { ApiError, NoAnswerError } from '../errors.ts';
import { RateLimitedError } from '../generated/errors.ts';
import { REFUSED_HEADER } from '../pay/dialects.ts';
import { BadTokenError, type TokenVerifier } from '../tokens.ts';
import type { Output } from '../types.ts';
import { failed, type Refusal, unavailable } from './answers.ts';
import type { Opening } from './deliveries.ts';
import type { Bill, Dialect, Presented } from './dialect.ts';
import { sha256 } from './incoming.ts';
import { createQuotes, QUOTE_LIFE_SECONDS, type SharedQuote } from './quotes.ts';
import { createShares } from './shares.ts';
import type { PaywallStore } from './store.ts';

/** Headers of a payment (docs/spec/interface.md, Vendor integration pattern with HTTP 402). */
const TOKEN_HEADER = 'x-settlement-token';
const ID_HEADER = 'x-settlement-id';

/** A settlement token has about 600 characters. A longer one is refused unread. */
const LONGEST_TOKEN = 4096;
const SETTLEMENT_ID = /^stl_[0-9a-z]{26}$/;
const QUOTE_ID = /^q_[0-9a-z]{26}$/;
/** A payment that a fork rolled back is made again within seconds. */
const FORK_MS = 5000;
/** The pause of a route that has used its share of the quotes. */
const SHARE_MS = 5000;
/** A pending refund may still be cancelled. */
const CONFLICT_MS = 10_000;
const MAX_SETTLEMENTS = 1000;

type SettlementTerms = Pick<Output<'settlement.verify'>, 'service_id' | 'scope' | 'quote_amount'>;
type No = Refusal | 'exhausted';
/**
 * A settlement, and a refusal that holds until a time, so that repeated requests do not use up the
 * vendor's limits.
 */
type KnownSettlement = SettlementTerms & { no: { said: No; until: number } | null };
type Ids = { settlement_id: string; settlement_token: string };

/**
 * Thrown instead of a call before the time that the API has named. The refusal itself was logged.
 */
export class WaitingError extends RateLimitedError {
  constructor(retryAfterMs: number) {
    super(
      { code: 'rate_limited', message: 'The API asked to wait.' },
      { status: 429, requestId: null, retryAfterMs },
    );
  }
}

/**
 * Makes the calls of one limit, and none while the API asks to wait. Refused calls count too, so a
 * flooded vendor that keeps calling would stay limited.
 */
const createThrottle = () => {
  let until = 0;
  return async <T>(call: () => Promise<T>): Promise<T> => {
    const leftMs = until - Date.now();
    if (leftMs > 0) throw new WaitingError(leftMs);
    try {
      return await call();
    } catch (error) {
      if (error instanceof RateLimitedError) until = Date.now() + (error.retryAfterMs ?? 1000);
      throw error;
    }
  };
};

/** `2500000` → `2.50 USDC`: at least two decimals, no rounding. */
const displayAmount = (micro: string): string => {
  const digits = micro.padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${decimals} USDC`;
};

/**
 * Converts a failed call for the buyer: by whether it can be repeated, without the API's message
 * about the vendor.
 */
const refusalOf = (error: unknown): Refusal => {
  if (error instanceof NoAnswerError) return unavailable('no_answer', error.retryAfterMs);
  if (!(error instanceof ApiError)) throw error;
  if (error.retryable) return unavailable(error.code, error.retryAfterMs);
  // An invalid key or a forbidden service is the vendor's error. The payment stays valid, and
  // nothing was redeemed.
  if (error.status === 401 || error.status === 403) return unavailable('vendor_configuration');
  return failed(error.code);
};

type QuittanceSettings = {
  client: Client;
  verify: TokenVerifier;
  serviceId: string;
  settleUrl: string;
  store: PaywallStore;
  onError: (error: unknown) => void;
};

/**
 * The dialect of this API: a signed quote in the 402, settlement id and token in the headers, then
 * redeem or consume.
 */
export const quittanceDialect = ({
  client,
  verify,
  serviceId,
  settleUrl,
  store,
  onError,
}: QuittanceSettings): Dialect => {
  const statusReads = createThrottle();
  const [quoteCreates, verifyCalls] = [createThrottle(), createThrottle()];
  const [redeemCalls, consumeCalls] = [createThrottle(), createThrottle()];
  // The terms of a settlement never change, so they are read once. A refusal for good is cached
  // too.
  const settlements = new Map<string, KnownSettlement>();
  const knownOf = async (settlement_id: string): Promise<KnownSettlement> => {
    const known = settlements.get(settlement_id);
    if (known !== undefined) return known;
    const terms = await verifyCalls(() => client.settlement.verify({ settlement_id }));
    const { service_id, scope, quote_amount } = terms;
    const fresh: KnownSettlement = { service_id, scope, quote_amount, no: null };
    if (settlements.size >= MAX_SETTLEMENTS) settlements.delete(settlements.keys().next().value!);
    settlements.set(settlement_id, fresh);
    return fresh;
  };

  /**
   * Null if the settlement matches this bill. A settlement must not pay a higher price or another
   * address.
   */
  const mismatch = ({ service_id, scope, quote_amount }: SettlementTerms, bill: Bill): Refusal | null => {
    if (service_id !== serviceId) return failed('other_service');
    if (scope?.resource !== bill.resource) return failed('other_resource');
    const units = Number.isInteger(scope.units) ? (scope.units as number) : null;
    // A prepaid settlement is not redeemed as a whole, and the reverse. Otherwise it would count
    // twice.
    if ((units === null) !== (bill.units === null)) return failed('other_resource');
    const paidEach = BigInt(quote_amount) * BigInt(bill.units ?? 1);
    const asked = BigInt(bill.amount) * BigInt(units ?? 1);
    return paidEach < asked ? failed('amount_too_small') : null;
  };

  const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : null);
  const redeem = async (ids: Ids, redeem_id: string): Promise<Opening> => {
    const redeemed = await redeemCalls(() => client.settlement.redeem({ ...ids, redeem_id }));
    return !redeemed.replayed || redeemed.redeem_id === redeem_id ? 'open' : 'spent';
  };
  const consume = async (ids: Ids, request_id: string): Promise<Opening> => {
    await consumeCalls(() => client.settlement.consume({ ...ids, units: 1, request_id }));
    return 'open';
  };
  /** What a refusal of redeem or consume means, and for how long. Null: call again. */
  const noOf = async (
    error: unknown,
    { settlement_id }: Ids,
    { units }: Bill,
  ): Promise<KnownSettlement['no']> => {
    const forEver = Number.POSITIVE_INFINITY;
    switch (codeOf(error)) {
      case 'settlement_exhausted':
        return { said: 'exhausted', until: forEver };
      case 'settlement_expired':
        return { said: units === null ? failed('settlement_expired') : 'exhausted', until: forEver };
      case 'conflict': {
        const { chain_status } = await verifyCalls(() => client.settlement.verify({ settlement_id }));
        return chain_status === 'pending'
          ? { said: unavailable('being_confirmed', FORK_MS), until: Date.now() + FORK_MS }
          : { said: failed('conflict'), until: Date.now() + CONFLICT_MS };
      }
      default:
        return null;
    }
  };
  const take = async (ids: Ids, bill: Bill, deliveryId: string): Promise<Opening | 'exhausted'> => {
    const known = await knownOf(ids.settlement_id);
    const wrong = mismatch(known, bill);
    if (wrong !== null) return wrong;
    if (known.no !== null && Date.now() < known.no.until) return known.no.said;
    try {
      return await (bill.units === null ? redeem : consume)(ids, deliveryId);
    } catch (error) {
      known.no = await noOf(error, ids, bill);
      if (known.no === null) throw error;
      return known.no.said;
    }
  };

  const shares = createShares();
  const createQuote = async (bill: Bill, isEarned: boolean): Promise<SharedQuote> => {
    const { resource, amount, units, route } = bill;
    if (!isEarned && !shares.admits(route)) throw new WaitingError(SHARE_MS);
    const scope = units === null ? { resource } : { resource, units };
    const expires_in_seconds = QUOTE_LIFE_SECONDS;
    const quote = await quoteCreates(() =>
      client.quote.create({ service_id: serviceId, quote_amount: amount, expires_in_seconds, scope }),
    ).catch((error: unknown) => {
      if (error instanceof RateLimitedError && !(error instanceof WaitingError)) shares.learn();
      throw error;
    });
    shares.count(route);
    // A buyer would refuse a quote of another environment or service, so the vendor reports it
    // first.
    const claims = await verify('quote', quote.quote_token);
    if (
      claims.service_id !== serviceId ||
      claims.quote_amount !== amount ||
      claims.scope?.resource !== resource
    )
      throw new BadTokenError('The API returned a quote for something else.');
    return quote;
  };
  const quotes = createQuotes({
    // A hash, because an address can be longer than a store's key.
    nameOf: ({ resource, amount, units }) =>
      sha256(new TextEncoder().encode(JSON.stringify([serviceId, resource, amount, units]))),
    create: createQuote,
    readStatus: async (quote_id) => (await statusReads(() => client.quote.get({ quote_id }))).status,
    store,
    onError,
  });

  return {
    name: 'quittance',
    offer: async (bill, incoming) => {
      const refused = incoming.header(REFUSED_HEADER);
      const quote = await quotes.offer(bill, refused !== null && QUOTE_ID.test(refused) ? refused : null);
      if (quote === null)
        return { status: 503, error: 'payment_in_progress', reason: 'being_paid', retryAfterSeconds: 1 };
      return {
        body: {
          quote_token: quote.quote_token,
          display_amount: displayAmount(quote.quote_amount),
          quote_amount: quote.quote_amount,
          currency: quote.currency,
          expires_at: quote.expires_at,
          settle_url: settleUrl,
        },
      };
    },

    read: async (incoming, bill): Promise<Presented | Refusal | null> => {
      const [settlement_token, settlement_id] = [incoming.header(TOKEN_HEADER), incoming.header(ID_HEADER)];
      if (!settlement_token || !settlement_id) return null;
      if (settlement_token.length > LONGEST_TOKEN || !SETTLEMENT_ID.test(settlement_id))
        return failed('invalid_token');
      // Verified before any call, because invalid tokens must not use up the vendor's limits.
      try {
        const claims = await verify('settlement', settlement_token);
        if (claims.settlement_id !== settlement_id) return failed('invalid_token');
        if (claims.service_id !== serviceId) return failed('other_service');
        if (bill.units === null && BigInt(claims.quote_amount) < BigInt(bill.amount))
          return failed('amount_too_small');
        await quotes.paid(bill, claims.quote_id).catch(onError);
      } catch (error) {
        return error instanceof BadTokenError ? failed('invalid_token') : refusalOf(error);
      }
      const ids = { settlement_id, settlement_token };
      return {
        id: settlement_id,
        take: (asked, deliveryId) => take(ids, asked, deliveryId).catch(refusalOf),
      };
    },
  };
};
