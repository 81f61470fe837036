import { boundedMap } from '../../bounded-map.ts';
import type { Client } from '../../client.ts';
import { ApiError } from '../../errors.ts';
import type { Output } from '../../types.ts';
import { failed, type Refusal, unavailable, usedUp } from '../base/answers.ts';
import type { Opening, Taking } from '../base/deliveries.ts';
import { type Bill, scopeOf } from '../base/dialect.ts';
import type { MeteredBill } from '../base/metered-route.ts';
import { createThrottle } from '../base/throttle.ts';

/** A payment that a fork rolled back is made again within seconds. */
const FORK_MS = 5000;
/** A pending refund may still be cancelled. */
const CONFLICT_MS = 10_000;
const MAX_SETTLEMENTS = 1000;

type Verified = Output<'settlement.verify'>;
type SettlementTerms = Pick<Verified, 'service_id' | 'scope' | 'quote_amount'> & { isAuthorization: boolean };
type No = { said: Refusal; until: number };
/**
 * A settlement's terms once they were read, and a refusal that holds until a time, so that repeated
 * requests do not use up the vendor's limits. It holds for the id that got it, and for ids that
 * were never sent. Another id may have succeeded before.
 */
type KnownSettlement = { terms: SettlementTerms | null; no: (No & { id: string }) | null };
type Ids = { settlement_id: string; settlement_token: string };

/** Why an authorization does not serve a metered bill, or null. A tab needs enough for one call. */
const mismatchOfMetered = (
  { scope, quote_amount, isAuthorization }: SettlementTerms,
  { amount }: Bill,
  { isTab, perCall }: MeteredBill,
): Refusal | null => {
  if (!isAuthorization || (scope?.tab === true) !== isTab) return failed('other_resource');
  return BigInt(quote_amount) < (isTab ? perCall : BigInt(amount)) ? failed('amount_too_small') : null;
};

/**
 * Null if the settlement matches this bill. A settlement must not pay a higher price or another
 * address.
 */
const mismatch = (terms: SettlementTerms, bill: Bill, serviceId: string): Refusal | null => {
  const { service_id, scope, quote_amount, isAuthorization } = terms;
  if (service_id !== serviceId) return failed('other_service');
  if (scope?.resource !== bill.resource) return failed('other_resource');
  if (bill.metered !== null) return mismatchOfMetered(terms, bill, bill.metered);
  if (isAuthorization) return failed('other_resource');
  const units = Number.isInteger(scope.units) ? (scope.units as number) : null;
  // A prepaid settlement is not redeemed as a whole, and the reverse. Otherwise it would count
  // twice.
  if ((units === null) !== (bill.units === null)) return failed('other_resource');
  const paidEach = BigInt(quote_amount) * BigInt(bill.units ?? 1);
  const asked = BigInt(bill.amount) * BigInt(units ?? 1);
  return paidEach < asked ? failed('amount_too_small') : null;
};

/** The terms of a quote of this bill. */
const termsOf = (bill: Bill, service_id: string): SettlementTerms => ({
  service_id,
  scope: scopeOf(bill),
  quote_amount: bill.amount,
  isAuthorization: bill.metered !== null,
});

const shownTerms = ({ service_id, scope, quote_amount, authorization }: Verified): SettlementTerms => ({
  service_id,
  scope,
  quote_amount,
  isAuthorization: authorization !== undefined,
});

/** What a settlement that is in conflict with a redeem refuses, and how long that holds. */
const noOfConflict = (chainStatus: Verified['chain_status']): No =>
  chainStatus === 'pending'
    ? { said: unavailable('being_confirmed', FORK_MS), until: Date.now() + FORK_MS }
    : { said: failed('conflict'), until: Date.now() + CONFLICT_MS };

const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : null);

/** The meaning of a refusal of redeem or consume, and how long it holds. Null: call again. */
const noOf = async (error: unknown, { units }: Bill, read: () => Promise<Verified>): Promise<No | null> => {
  const forEver = Number.POSITIVE_INFINITY;
  switch (codeOf(error)) {
    case 'settlement_exhausted':
      return { said: usedUp('settlement_exhausted'), until: forEver };
    case 'settlement_expired':
      return { said: (units === null ? failed : usedUp)('settlement_expired'), until: forEver };
    case 'conflict':
      return noOfConflict((await read()).chain_status);
    default:
      return null;
  }
};

/** Calls of the API about one settlement. They throw WaitingError while it asks to wait. */
const createCalls = (client: Client) => {
  const [redeemCalls, consumeCalls, verifyCalls] = [createThrottle(), createThrottle(), createThrottle()];
  const verify = (settlement_id: string) => verifyCalls(() => client.settlement.verify({ settlement_id }));
  const redeem = async (ids: Ids, redeem_id: string): Promise<Opening> => {
    const redeemed = await redeemCalls(() => client.settlement.redeem({ ...ids, redeem_id }));
    return !redeemed.replayed || redeemed.redeem_id === redeem_id ? 'open' : 'spent';
  };
  const consume = async (ids: Ids, request_id: string): Promise<'open'> => {
    await consumeCalls(() => client.settlement.consume({ ...ids, units: 1, request_id }));
    return 'open';
  };
  return { verify, redeem, consume };
};

/**
 * Redeems and consumes the settlements of one service: functions of a settlement, which get its
 * bill. They take the id of a delivery, and the same id succeeds again. `isOwnQuote`
 * tells whether it has paid a quote of exactly this bill, whose terms need no read. They throw
 * ApiError, NoAnswerError, or WaitingError while the API asks to wait.
 */
export const createSettlements = (client: Client, serviceId: string) => {
  const { verify, redeem, consume } = createCalls(client);
  // The terms of a settlement never change, so they are read once. A final refusal is cached too.
  const settlements = boundedMap<KnownSettlement>(MAX_SETTLEMENTS);
  const knownOf = (settlement_id: string): KnownSettlement => {
    const known = settlements.get(settlement_id);
    if (known !== undefined) return known;
    const fresh: KnownSettlement = { terms: null, no: null };
    settlements.set(settlement_id, fresh);
    return fresh;
  };

  const refusalOf = (settlement_id: string) => {
    const { no } = knownOf(settlement_id);
    return no !== null && Date.now() < no.until ? no : null;
  };
  /** Calls the API, unless it is known to refuse. */
  const unlessRefused = async (
    { settlement_id }: Ids,
    bill: Bill,
    { id, isRepeat }: Taking,
    call: () => Promise<Opening>,
  ): Promise<Opening> => {
    const known = refusalOf(settlement_id);
    if (known !== null && (!isRepeat || known.id === id)) return known.said;
    try {
      return await call();
    } catch (error) {
      const no = await noOf(error, bill, () => verify(settlement_id));
      if (no === null) throw error;
      knownOf(settlement_id).no = { ...no, id };
      return no.said;
    }
  };
  return (ids: Ids, isOwnQuote: () => Promise<boolean>) => {
    const { settlement_id } = ids;
    return {
      /** Why the settlement does not pay for this bill, or null. */
      mismatch: async (bill: Bill): Promise<Refusal | null> => {
        const known = knownOf(settlement_id);
        if (known.terms === null) {
          known.terms = (await isOwnQuote())
            ? termsOf(bill, serviceId)
            : shownTerms(await verify(settlement_id));
        }
        return mismatch(known.terms, bill, serviceId);
      },
      /** Redeems the settlement, or consumes one unit of it, for a bill that it pays for. */
      take: (bill: Bill, taking: Taking): Promise<Opening> =>
        unlessRefused(ids, bill, taking, () =>
          bill.units === null ? redeem(ids, taking.id) : consume(ids, taking.id),
        ),
    };
  };
};
