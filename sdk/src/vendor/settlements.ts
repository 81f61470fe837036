import { boundedMap } from '../bounded-map.ts';
import type { Client } from '../client.ts';
import { ApiError } from '../errors.ts';
import type { Output } from '../types.ts';
import { failed, type Refusal, unavailable } from './answers.ts';
import type { Opening } from './deliveries.ts';
import type { Bill } from './dialect.ts';
import { createThrottle } from './throttle.ts';

/** A payment that a fork rolled back is made again within seconds. */
const FORK_MS = 5000;
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
 * Null if the settlement matches this bill. A settlement must not pay a higher price or another
 * address.
 */
const mismatch = (
  { service_id, scope, quote_amount }: SettlementTerms,
  bill: Bill,
  serviceId: string,
): Refusal | null => {
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

/** The terms of a quote of this bill. */
const termsOf = ({ resource, amount, units }: Bill, service_id: string): SettlementTerms => ({
  service_id,
  scope: units === null ? { resource } : { resource, units },
  quote_amount: amount,
});

/** What a settlement that is in conflict with a redeem refuses, and how long that holds. */
const noOfConflict = (chainStatus: Output<'settlement.verify'>['chain_status']): KnownSettlement['no'] =>
  chainStatus === 'pending'
    ? { said: unavailable('being_confirmed', FORK_MS), until: Date.now() + FORK_MS }
    : { said: failed('conflict'), until: Date.now() + CONFLICT_MS };

const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : null);

/** Redeems and consumes the settlements of one service. */
export const createSettlements = (client: Client, serviceId: string) => {
  const [redeemCalls, consumeCalls, verifyCalls] = [createThrottle(), createThrottle(), createThrottle()];
  // The terms of a settlement never change, so they are read once. A final refusal is cached too.
  const settlements = boundedMap<KnownSettlement>(MAX_SETTLEMENTS);
  const knownOf = async (settlement_id: string, own: SettlementTerms | null): Promise<KnownSettlement> => {
    const known = settlements.get(settlement_id);
    if (known !== undefined) return known;
    const terms = own ?? (await verifyCalls(() => client.settlement.verify({ settlement_id })));
    const { service_id, scope, quote_amount } = terms;
    const fresh: KnownSettlement = { service_id, scope, quote_amount, no: null };
    settlements.set(settlement_id, fresh);
    return fresh;
  };

  const redeem = async (ids: Ids, redeem_id: string): Promise<Opening> => {
    const redeemed = await redeemCalls(() => client.settlement.redeem({ ...ids, redeem_id }));
    return !redeemed.replayed || redeemed.redeem_id === redeem_id ? 'open' : 'spent';
  };
  const consume = async (ids: Ids, request_id: string): Promise<Opening> => {
    await consumeCalls(() => client.settlement.consume({ ...ids, units: 1, request_id }));
    return 'open';
  };
  /** The meaning of a refusal of redeem or consume, and how long it holds. Null: call again. */
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
        return noOfConflict(chain_status);
      }
      default:
        return null;
    }
  };
  return {
    /**
     * Redeems a settlement, or consumes one unit of it, for a bill.
     * @param deliveryId the same id succeeds again
     * @param isOwnQuote whether it has paid a quote of exactly this bill, whose terms need no read
     * @throws ApiError, NoAnswerError, or WaitingError while the API asks to wait
     */
    take: async (
      ids: Ids,
      bill: Bill,
      deliveryId: string,
      isOwnQuote: boolean,
    ): Promise<Opening | 'exhausted'> => {
      const known = await knownOf(ids.settlement_id, isOwnQuote ? termsOf(bill, serviceId) : null);
      const wrong = mismatch(known, bill, serviceId);
      if (wrong !== null) return wrong;
      if (known.no !== null && Date.now() < known.no.until) return known.no.said;
      try {
        return await (bill.units === null ? redeem : consume)(ids, deliveryId);
      } catch (error) {
        known.no = await noOf(error, ids, bill);
        if (known.no === null) throw error;
        return known.no.said;
      }
    },
  };
};
