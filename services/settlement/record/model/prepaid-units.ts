import type { ErrorCode } from '../../../../shared/contract/errors.ts';
import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type ChainStatus, isPaid, type Status } from './status.ts';

const MAX_UNITS = 1_000_000_000;

/**
 * The units that a quote prepays: an integer `units` of its scope, 1 to 1e9
 * (docs/spec/decisions.md, Redeem); else null.
 */
export const prepaidUnits = (scope: QuoteClaims['scope']): number | null => {
  // A scope is the vendor's own object. `units` may have any type, and an inherited name does not
  // count.
  const units = scope !== null && Object.hasOwn(scope, 'units') ? scope.units : null;
  return typeof units === 'number' && Number.isInteger(units) && units >= 1 && units <= MAX_UNITS
    ? units
    : null;
};

type Prepaid = {
  status: Status;
  chain: ChainStatus;
  /** Past the redeem window, whether or not the job has marked it. */
  elapsed: boolean;
  /** Past the days after redeem in which units can be consumed. */
  closed: boolean;
  /** Null: not prepaid. */
  unitsTotal: number | null;
  unitsConsumed: bigint;
  reservedMicro: bigint;
};

type Refusal = {
  code: Extract<ErrorCode, 'conflict' | 'settlement_expired' | 'settlement_exhausted'>;
  message: string;
};
const conflict = (message: string): Refusal => ({ code: 'conflict', message });
const expired = (message: string): Refusal => ({ code: 'settlement_expired', message });

/**
 * Why units cannot be consumed (docs/spec/decisions.md, Redeem and Funding), or null when they can.
 * `recordConsumptions` has the same guards in SQL. A refund has precedence over the remaining
 * units, since its release opens the settlement again.
 */
export const consumeRefusal = (prepaid: Prepaid, units: number): Refusal | null => {
  const { status, chain, unitsTotal } = prepaid;
  if (unitsTotal === null) return conflict('the quote prepaid no units; redeem the settlement instead');
  if (status === 'authorized' || status === 'capturing' || status === 'voided')
    return conflict('the quote prepaid no units; report what is used with usage');
  if (status === 'pending') return conflict('the payment is not confirmed yet');
  if (status === 'failed') return conflict('the payment failed');
  if (status === 'expired' || (status === 'issued' && prepaid.elapsed))
    return expired('the redeem window has elapsed');
  if (status === 'redeemed' && prepaid.closed)
    return expired('units can be consumed for 30 days after the redeem, which have passed');
  if (chain === 'failed') return conflict('the payment was reversed on chain');
  if (!isPaid(chain))
    return conflict('the payment is being confirmed again after a fork of the chain: repeat in a moment');
  if (prepaid.reservedMicro > 0n)
    return conflict('a refund is made or under way, so no units can be consumed');
  const left = unitsTotal - Number(prepaid.unitsConsumed);
  if (units > left)
    return { code: 'settlement_exhausted', message: `${left} of ${unitsTotal} units are left` };
  return null;
};
