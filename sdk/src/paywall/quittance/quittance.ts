import { hexHash, utf8 } from '../../checks/encoding.ts';
import { BadTokenError, type SettlementClaims, type TokenVerifier } from '../../checks/tokens.ts';
import type { Client } from '../../client.ts';
import { ApiError, NoAnswerError } from '../../errors.ts';
import { RateLimitedError } from '../../generated/errors.ts';
import { displayUsdc } from '../../generated/usdc.ts';
import { REFUSED_HEADER } from '../../pay/base/dialects.ts';
import type { Input } from '../../types.ts';
import {
  type ExtendableTab,
  failed,
  IN_PROGRESS,
  isRefusal,
  type Refusal,
  unavailable,
} from '../base/answers.ts';
import { type Authorizations, createAuthorizations } from '../base/authorizations.ts';
import { ConfigurationError, faultOfQuote } from '../base/configuration.ts';
import { type Bill, type Dialect, isFixedPrice, type PresentedPayment, scopeOf } from '../base/dialect.ts';
import type { Incoming } from '../base/incoming.ts';
import { CONFIGURATION, type Log } from '../base/log.ts';
import { unpayingOf } from '../base/metered-route.ts';
import { isInMemory, type PaywallStore } from '../base/store.ts';
import { createThrottle, WaitingError } from '../base/throttle.ts';
import { hintOf } from './hint.ts';
import { createQuotes, type Quotes } from './quotes.ts';
import { createSettlements } from './settlements.ts';
import type { Shares } from './shares.ts';
import { QUOTE_LIFE_SECONDS, type SharedQuote } from './slots.ts';

/** Headers of a payment (docs/spec/interface.md, Vendor integration pattern with HTTP 402). */
const TOKEN_HEADER = 'x-settlement-token';
const ID_HEADER = 'x-settlement-id';

/** A settlement token has about 600 characters. A longer one is refused unread. */
const LONGEST_TOKEN = 4096;
const SETTLEMENT_ID = /^stl_[0-9a-z]{26}$/;
const QUOTE_ID = /^q_[0-9a-z]{26}$/;
/** The pause of a route that has used its share of the quotes. */
const SHARE_MS = 5000;

/**
 * Converts a failed call for the buyer: by whether it can be repeated. The API's message is about
 * the vendor, so only the log gets it.
 */
const refusalOf = (cause: unknown): Refusal => {
  if (cause instanceof NoAnswerError) return { ...unavailable('no_answer', cause.retryAfterMs), cause };
  if (!(cause instanceof ApiError)) throw cause;
  if (cause.retryable) return { ...unavailable(cause.code, cause.retryAfterMs), cause };
  // An invalid key or a forbidden service is the vendor's error. The payment stays valid, and
  // nothing was redeemed.
  if (cause.status === 401 || cause.status === 403) return { ...unavailable(CONFIGURATION), cause };
  return { ...failed(cause.code), cause };
};

type QuittanceSettings = {
  client: Client;
  verify: TokenVerifier;
  serviceId: string;
  settleUrl: string;
  publicUrl: string;
  store: PaywallStore;
  shares: Shares;
  onError: (error: unknown) => void;
  log: Log;
};

/** The price of a quote, or the ceiling and the terms of what is captured of it. */
const amountsOf = (bill: Bill): Omit<Input<'quote.create'>, 'service_id'> => {
  const { amount, metered, extends: tab } = bill;
  if (tab !== undefined) return { extends: tab.quoteId, max_amount: amount };
  const scope = scopeOf(bill);
  if (metered === null) return { quote_amount: amount, scope };
  const { unitPrice, windowSeconds } = metered;
  return {
    capture: 'usage',
    max_amount: amount,
    capture_window_seconds: windowSeconds,
    ...(unitPrice !== null && { unit_price: String(unitPrice) }),
    scope,
  };
};

/** What distinguishes the quotes of a bill from others. */
const termsOf = ({ isTrial, ...bill }: Bill): unknown[] => {
  const terms = buyersTermsOf(bill);
  // A buyer never gets a quote that does not count as one.
  return isTrial === true ? [...terms, 'trial'] : terms;
};
const buyersTermsOf = ({ resource, amount, units, metered, extends: tab }: Bill): unknown[] => {
  if (metered === null) return [resource, amount, units];
  const terms = [resource, amount, metered.isTab, String(metered.unitPrice), metered.windowSeconds];
  // Each extension is another quote, because the last one is paid.
  return tab === undefined ? terms : [...terms, tab.quoteId, String(tab.ceiling)];
};

/** Reports once for each route that it can pay nothing. Its first quote has the fee. */
const createHint = (onError: (error: unknown) => void) => {
  const hinted = new WeakSet<object>();
  return ({ route, metered }: Bill, { capture }: SharedQuote): void => {
    if (metered === null || capture === undefined || hinted.has(route)) return;
    hinted.add(route);
    const message = unpayingOf(metered, BigInt(capture.fee.min));
    if (message !== null) onError(new ConfigurationError(message));
  };
};

/** Creates the quotes of this vendor, within the API's limit of quotes per minute. */
const createQuoteMaker = ({ client, verify, serviceId, shares, onError }: QuittanceSettings) => {
  const quoteCreates = createThrottle();
  const hint = createHint(onError);
  /** @param isEarned true if it replaces a quote that is being paid */
  return async (bill: Bill, isEarned: boolean): Promise<SharedQuote> => {
    const { resource, amount } = bill;
    if (!isEarned && !shares.admits(bill)) throw new WaitingError(SHARE_MS);
    const priced = { ...amountsOf(bill), expires_in_seconds: QUOTE_LIFE_SECONDS };
    const end = shares.begin(bill);
    const quote = await quoteCreates(() => client.quote.create({ service_id: serviceId, ...priced })).catch(
      (error: unknown) => {
        end(false);
        if (error instanceof RateLimitedError && !(error instanceof WaitingError)) shares.learn();
        throw faultOfQuote(error, serviceId, amount);
      },
    );
    end(true);
    hint(bill, quote);
    // A buyer would refuse a quote of another environment or service, so the vendor reports it
    // first.
    const claims = await verify('quote', quote.quote_token);
    if (
      claims.service_id !== serviceId ||
      claims.quote_amount !== amount ||
      claims.scope?.resource !== resource ||
      claims.extends !== bill.extends?.quoteId ||
      (claims.capture !== undefined) !== (bill.metered !== null)
    )
      throw new BadTokenError('The API returned a quote for something else.');
    return quote;
  };
};

/** The quotes of 402 answers: for a new payment, or one that extends the ceiling of a tab. */
const createOffered = (quotes: Quotes, onError: (error: unknown) => void) => {
  /** Null: the tab cannot be extended, so it is ended. */
  const extending = async (
    bill: Bill,
    { quoteId, ceiling, end }: ExtendableTab,
  ): Promise<SharedQuote | null> => {
    try {
      return await quotes.offer({ ...bill, extends: { quoteId, ceiling } }, null);
    } catch (error) {
      // The buyer may repeat the call, so its tab is not captured for that, which costs a fee.
      const { status, reason } = refusalOf(error);
      if (status === 503) throw error;
      if (reason !== 'authorization_closed') onError(error);
      end();
      return null;
    }
  };
  return async (bill: Bill, incoming: Incoming, refused: Refusal | null): Promise<SharedQuote | null> => {
    const extend = refused?.extendable === undefined ? null : await extending(bill, refused.extendable);
    if (extend !== null) return extend;
    const named = incoming.header(REFUSED_HEADER);
    return quotes.offer(bill, named !== null && QUOTE_ID.test(named) ? named : null);
  };
};

/**
 * Reads the settlement that a request presents. Invalid tokens are refused without a call, because
 * they must not use up the vendor's limits. Null: none is presented.
 */
const createReader =
  ({ verify, serviceId }: QuittanceSettings) =>
  async (incoming: Incoming): Promise<{ token: string; claims: SettlementClaims } | Refusal | null> => {
    const [token, id] = [incoming.header(TOKEN_HEADER), incoming.header(ID_HEADER)];
    if (!token || !id) return null;
    if (token.length > LONGEST_TOKEN || !SETTLEMENT_ID.test(id)) return failed('invalid_token');
    try {
      const claims = await verify('settlement', token);
      if (claims.settlement_id !== id) return failed('invalid_token');
      return claims.service_id === serviceId ? { token, claims } : failed('other_service');
    } catch (error) {
      return error instanceof BadTokenError ? failed('invalid_token') : refusalOf(error);
    }
  };

/** The authorization that a request presents. @param extend one that is used up can be extended */
const authorizationOf = (
  authorizations: Authorizations,
  { claims, token: settlement_token }: { claims: SettlementClaims; token: string },
  extend: boolean,
): NonNullable<PresentedPayment['authorization']> => {
  const ids = { settlement_id: claims.settlement_id, settlement_token };
  return {
    quoteId: claims.quote_id,
    madeAt: Date.parse(claims.issued_at),
    known: () => authorizations.known(claims.settlement_id),
    open: () => authorizations.open(ids, extend).catch(refusalOf),
    read: () => authorizations.read(ids, extend).catch(refusalOf),
  };
};

/**
 * The dialect of this API: a signed quote in the 402, settlement id and token in the headers, then
 * redeem or consume.
 */
export const quittanceDialect = (settings: QuittanceSettings): Dialect => {
  const { client, serviceId, settleUrl, publicUrl, store, onError, log } = settings;
  const readSettlement = createReader(settings);
  const statusReads = createThrottle();
  const settlementOf = createSettlements(client, serviceId);
  const authorizations = createAuthorizations({ client, isAlone: isInMemory(store), onError, onEnd: log });
  const quotes = createQuotes({
    // A hash, because an address can be longer than a store's key.
    nameOf: (bill) => hexHash(utf8(JSON.stringify([serviceId, ...termsOf(bill)]))),
    create: createQuoteMaker(settings),
    readStatus: async (quote_id) => (await statusReads(() => client.quote.get({ quote_id }))).status,
    store,
    onSale: settings.shares.sell,
    onError,
  });
  const offered = createOffered(quotes, onError);

  return {
    name: 'quittance',
    close: authorizations.close,
    offer: async (bill, incoming, refused) => {
      const quote = await offered(bill, incoming, refused);
      if (quote === null) return { ...IN_PROGRESS, reason: 'being_paid' };
      return {
        // The token is last, because a person reads the others.
        body: {
          hint: hintOf(bill, { method: incoming.method, address: `${publicUrl}${incoming.target}` }),
          display_amount: displayUsdc(quote.quote_amount),
          quote_amount: quote.quote_amount,
          currency: quote.currency,
          expires_at: quote.expires_at,
          settle_url: settleUrl,
          ...(quote.capture !== undefined && { max_amount: quote.max_amount, capture: quote.capture }),
          ...(quote.extends !== undefined && { extends: quote.extends }),
          ...(!bill.replays && { repeatable: true }),
          quote_token: quote.quote_token,
        },
      };
    },

    read: async (incoming, bill): Promise<PresentedPayment | Refusal | null> => {
      const found = await readSettlement(incoming);
      if (found === null || isRefusal(found)) return found;
      const { claims, token: settlement_token } = found;
      const { settlement_id } = claims;
      const ids = { settlement_id, settlement_token };
      const isOwnQuote = () =>
        quotes.paid(bill, claims.quote_id).catch((error: unknown) => {
          onError(error);
          return false;
        });
      const { take, mismatch } = settlementOf(ids, isOwnQuote);
      return {
        id: settlement_id,
        mismatch: async (asked) =>
          isFixedPrice(asked) && BigInt(claims.quote_amount) < BigInt(asked.amount)
            ? failed('amount_too_small')
            : mismatch(asked).catch(refusalOf),
        take: (asked, taking) => take(asked, taking).catch(refusalOf),
        authorization: authorizationOf(authorizations, found, bill.metered?.extend === true),
      };
    },
  };
};
