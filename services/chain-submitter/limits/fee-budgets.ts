import { ServiceError } from '../../../shared/contract/errors.ts';
import {
  type Budget,
  type Budgets,
  type Reservation,
  reserveAmounts,
  reservedAmounts,
} from '../../../shared/db/budget.ts';
import type { Db } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { LAMPORT_BUDGETS } from '../../../shared/lib/telemetry/metrics-catalog.ts';

/**
 * The daily budgets of the fee payer's spending. Settles, payments of other clients and user-signed
 * transactions have separate budgets, so none can starve another. Rent is separate from fees,
 * because one token account costs as much as 200 transactions.
 */
type BudgetName = (typeof LAMPORT_BUDGETS)[number];
type Dimension = 'account' | 'vendor' | 'environment';

/**
 * Of a UTC day: lamports of the environment, the numbers that one account may have co-signed, and
 * the number of failures for one vendor account.
 */
export type Limits = Record<BudgetName, bigint> & {
  cosignatures: bigint;
  revokes: bigint;
  /** Payments of other clients to one vendor account that may fail on the chain. */
  incoming_failures: bigint;
  /** Those of MPP, while the account has received none in the last day. */
  incoming_first_failures: bigint;
};

/** No account and no vendor uses more than one of these shares of an environment's budget. */
export const SHARES = 10n;
/**
 * No new quotes are promised when less than this part of a budget is left, because accepted
 * payments need it.
 */
const HEADROOM = 50n;

/** An amount to reserve of one budget. */
export type Claim = Budget & { period: 'day'; name: BudgetName; dimension: Dimension; amount: bigint };

const DAY_MS = 86_400_000;
/** Seconds until budgets refill, at UTC midnight. */
export const secondsToMidnight = (now: number): number => Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
/** The beginning of the UTC day, epoch milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS) * DAY_MS;

/** A budget has less left than the claim. `refusalOf` turns it into an answer. */
export class BudgetUsedUp extends Error {
  override name = 'BudgetUsedUp';
  readonly claim: Pick<Claim, 'name' | 'dimension'>;
  constructor(claim: Pick<Claim, 'name' | 'dimension'>) {
    super(`the daily budget ${claim.name} of the ${claim.dimension} is used up`);
    this.claim = claim;
    count('quittance_budget_refusals_total', 1, { budget: claim.name, dimension: claim.dimension });
  }
}

/**
 * The answer to a caller: 429 for its own budget, 503 for the environment's. Nothing was signed.
 */
export const refusalOf = ({ claim }: BudgetUsedUp, now: number): ServiceError => {
  const extras = { money_moved: 'no', retryAfterSeconds: secondsToMidnight(now) } as const;
  return claim.dimension === 'environment'
    ? new ServiceError(
        'service_unavailable',
        'the platform pays no more network fees of this kind today',
        extras,
      )
    : new ServiceError(
        'rate_limited',
        'the network fees that the platform pays for you a day are used up',
        extras,
      );
};

/** The claims of an amount: on the environment's budget, and on the account's tenth of it. */
export const claimsOf = (limits: Limits, name: BudgetName, account: string, amount: bigint): Claim[] => [
  { name, dimension: 'environment', scope: name, period: 'day', cap: limits[name], amount },
  accountClaim(limits, name, account, amount),
];

/** The claim on the account's tenth of a budget. */
const accountClaim = (limits: Limits, name: BudgetName, account: string, amount: bigint): Claim => ({
  name,
  dimension: 'account',
  scope: `${name}/account/${account}`,
  period: 'day',
  cap: limits[name] / SHARES,
  amount,
});

/**
 * Reserves all claims for the current day, in the transaction that commits what they pay for.
 * @throws BudgetUsedUp; the caller must roll the transaction back
 */
export const reserveClaims = async (tx: Db, claims: readonly Claim[], now: number): Promise<void> => {
  if (claims.length === 0) return;
  const startsAt = dayOf(now);
  const reserved = await reserveAmounts(
    tx,
    claims.map(({ scope, amount, cap }) => ({ scope, startsAt, amount, cap })),
  );
  const refused = claims.find((_, index) => !reserved[index]);
  if (refused !== undefined) throw new BudgetUsedUp(refused);
};

/**
 * Checks the claims ahead, and reserves nothing.
 * @throws BudgetUsedUp
 */
export const checkClaims = async (db: Db, claims: readonly Claim[], now: number): Promise<void> => {
  const startsAt = dayOf(now);
  const amounts = await reservedAmounts(
    db,
    claims.map(({ scope }) => ({ scope, startsAt })),
  );
  const refused = claims.find(({ amount, cap }, index) => amounts[index]! + amount > cap);
  if (refused !== undefined) throw new BudgetUsedUp(refused);
};

/**
 * A budget of the fees of payments, of the environment and of each vendor. Payments are frequent,
 * so amounts are reserved ahead (shared/db/budget.ts).
 */
export const createVendorFees = (budgets: Budgets, limits: Limits, name: 'fees_settle' | 'fees_incoming') => {
  const environment: Budget = { scope: name, period: 'day', cap: limits[name] };
  const ofVendor = (account: string): Budget => ({
    scope: `${name}/vendor/${account}`,
    period: 'day',
    cap: limits[name] / SHARES,
  });
  return {
    environment,
    ofVendor,
    /**
     * Reserves the fee of bytes before they are signed. The caller releases it when they are not
     * committed.
     * @throws BudgetUsedUp
     */
    reserve: async (vendor: string, lamports: bigint): Promise<Reservation> => {
      const [whole, share] = await Promise.all([
        budgets.reserve(environment, lamports),
        budgets.reserve(ofVendor(vendor), lamports),
      ]);
      const release = () => {
        whole?.release();
        share?.release();
      };
      if (whole !== null && share !== null) return { release };
      release();
      throw new BudgetUsedUp({ name, dimension: whole === null ? 'environment' : 'vendor' });
    },
    /** Lamports that the vendor has paid for no longer count in its part of the day. */
    giveBack: (vendor: string, lamports: bigint): void => budgets.giveBack(ofVendor(vendor), lamports),
  };
};

/**
 * The budgets of settles' fees. The account's part is reserved by the statement that commits the
 * bytes (`ledger/store/commit-signed.ts`).
 */
export const createSettleFees = (budgets: Budgets, limits: Limits, clock: Clock) => {
  const name = 'fees_settle';
  const { environment, ofVendor, reserve, giveBack } = createVendorFees(budgets, limits, name);
  return {
    reserve,
    giveBack,
    /** The claim on the account's part, which is reserved with the commit of the bytes. */
    accountClaim: (account: string, lamports: bigint) => accountClaim(limits, name, account, lamports),
    /** Null while new settles are possible, else the seconds until the budget refills. */
    refillsInSeconds: async (): Promise<number | null> =>
      (await budgets.hasLeft(environment, environment.cap / HEADROOM)) ? null : secondsToMidnight(clock()),
    /** @throws BudgetUsedUp when the vendor's part of the day has nothing left for new quotes */
    checkVendor: async (vendor: string): Promise<void> => {
      const budget = ofVendor(vendor);
      if (!(await budgets.hasLeft(budget, budget.cap / HEADROOM)))
        throw new BudgetUsedUp({ name, dimension: 'vendor' });
    },
  };
};
