import type { Client } from '../client.ts';
import { ApiError, NoAnswerError } from '../errors.ts';
import { BadTokenError, type TokenVerifier } from '../tokens.ts';
import type { Output } from '../types.ts';
import { failed, type Refusal, unavailable } from './answers.ts';
import type { Bill, Dialect, Presented } from './dialect.ts';
import type { Opening } from './once.ts';

/** Headers of a payment (interface.md, Vendor integration pattern with HTTP 402). */
export const TOKEN_HEADER = 'x-settlement-token';
export const ID_HEADER = 'x-settlement-id';

/** A settlement token has some 600 characters; what is longer is not looked at. */
const LONGEST_TOKEN = 4096;
const SETTLEMENT_ID = /^stl_[0-9a-z]{26}$/;
/** A signature by a fork of the chain undone is made anew within seconds. */
const FORK_MS = 5000;
const FACTS_KEPT = 1000;

type Facts = Pick<Output<'settlement.verify'>, 'service_id' | 'scope' | 'quote_amount'>;

/** `2500000` → `2.50 USDC`: at least two decimals, no rounding. */
export const displayAmount = (micro: string): string => {
  const digits = micro.padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${decimals} USDC`;
};

/** A call that failed, as the buyer hears it: by what may be repeated, never by what the API said of the vendor. */
const refusalOf = (error: unknown): Refusal => {
  if (error instanceof NoAnswerError) return unavailable('no_answer', error.retryAfterMs);
  if (!(error instanceof ApiError)) throw error;
  if (error.retryable) return unavailable(error.code, error.retryAfterMs);
  // A bad key or a forbidden service is the vendor's to mend: the payment is good and nothing was taken.
  if (error.status === 401 || error.status === 403) return unavailable('vendor_configuration');
  return failed(error.code);
};

export type QuittanceSettings = {
  client: Client;
  verify: TokenVerifier;
  serviceId: string;
  settleUrl: string;
};

/** The dialect of this API: a signed quote in the 402, settlement id and token in the headers, redeem or consume to take. */
export const quittanceDialect = ({ client, verify, serviceId, settleUrl }: QuittanceSettings): Dialect => {
  // What a settlement was paid for never changes, so it is asked once.
  const facts = new Map<string, Facts>();
  const factsOf = async (settlement_id: string): Promise<Facts> => {
    const known = facts.get(settlement_id);
    if (known !== undefined) return known;
    const { service_id, scope, quote_amount } = await client.settlement.verify({ settlement_id });
    if (facts.size >= FACTS_KEPT) facts.delete(facts.keys().next().value!);
    facts.set(settlement_id, { service_id, scope, quote_amount });
    return { service_id, scope, quote_amount };
  };

  /** Null when the settlement was made for this bill. A cheap one must never open what is dear, nor one address another. */
  const mismatch = ({ service_id, scope, quote_amount }: Facts, bill: Bill): Refusal | null => {
    if (service_id !== serviceId) return failed('other_service');
    if (scope?.resource !== bill.resource) return failed('other_resource');
    const units = Number.isInteger(scope.units) ? (scope.units as number) : null;
    // One that can be drawn from is not redeemed as a whole, and the other way round: it would count twice.
    if ((units === null) !== (bill.units === null)) return failed('other_resource');
    const paidEach = BigInt(quote_amount) * BigInt(bill.units ?? 1);
    const asked = BigInt(bill.amount) * BigInt(units ?? 1);
    return paidEach < asked ? failed('amount_too_small') : null;
  };

  const redeem = async (ids: Ids, redeem_id: string): Promise<Opening> => {
    try {
      const redeemed = await client.settlement.redeem({ ...ids, redeem_id });
      return !redeemed.replayed || redeemed.redeem_id === redeem_id ? 'open' : 'spent';
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'conflict')) throw error;
      const { chain_status } = await client.settlement.verify(ids);
      return chain_status === 'pending' ? unavailable('being_confirmed', FORK_MS) : failed('conflict');
    }
  };
  const consume = async (ids: Ids, request_id: string): Promise<Opening | 'exhausted'> => {
    try {
      await client.settlement.consume({ ...ids, units: 1, request_id });
      return 'open';
    } catch (error) {
      const over =
        error instanceof ApiError && ['settlement_exhausted', 'settlement_expired'].includes(error.code);
      if (over) return 'exhausted';
      throw error;
    }
  };
  type Ids = { settlement_id: string; settlement_token: string };

  return {
    name: 'quittance',
    offer: async ({ resource, amount, units }) => {
      const quote = await client.quote.create({
        service_id: serviceId,
        quote_amount: amount,
        scope: units === null ? { resource } : { resource, units },
      });
      // Signed by another environment, or not for us: a buyer would refuse it, so the vendor should hear of it first.
      const claims = await verify('quote', quote.quote_token);
      if (
        claims.service_id !== serviceId ||
        claims.quote_amount !== amount ||
        claims.scope?.resource !== resource
      )
        throw new BadTokenError('the API quoted something else');
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
      // Before anything is asked of the API: junk must not use up the vendor's limits there.
      try {
        const claims = await verify('settlement', settlement_token);
        if (claims.settlement_id !== settlement_id) return failed('invalid_token');
        if (claims.service_id !== serviceId) return failed('other_service');
        if (bill.units === null && BigInt(claims.quote_amount) < BigInt(bill.amount))
          return failed('amount_too_small');
      } catch (error) {
        return error instanceof BadTokenError ? failed('invalid_token') : refusalOf(error);
      }
      const ids = { settlement_id, settlement_token };
      return {
        id: settlement_id,
        take: async (asked, deliveryId) => {
          try {
            const wrong = mismatch(await factsOf(settlement_id), asked);
            if (wrong !== null) return wrong;
            return await (asked.units === null ? redeem(ids, deliveryId) : consume(ids, deliveryId));
          } catch (error) {
            return refusalOf(error);
          }
        },
      };
    },
  };
};
