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
import { count } from '../../../shared/lib/metrics.ts';
import type { LAMPORT_BUDGETS } from '../../../shared/lib/metrics-catalog.ts';

/**
 * The daily budgets of what the fee payer spends. Settles and user-signed work have budgets of their own, so neither
 * can starve the other; rent is apart from fees, because one token account costs as much as 200 transactions.
 */
export type BudgetName = (typeof LAMPORT_BUDGETS)[number];
export type Dimension = 'account' | 'vendor' | 'environment';

/** Lamports a UTC day of the whole environment, and what one account may have co-signed. */
export type Limits = Record<BudgetName, bigint> & { cosignatures: bigint; revokes: bigint };

/** No account and no vendor uses more than this part of an environment's budget. */
const SHARES = 10n;
/** Left of the environment's and of a vendor's budget when no more is promised: what was accepted meanwhile needs it. */
const HEADROOM = 50n;

/** One budget that an amount is reserved of. */
export type Claim = Budget & { period: 'day'; name: BudgetName; dimension: Dimension; amount: bigint };

const DAY_MS = 86_400_000;
/** Seconds until budgets refill, at UTC midnight. */
export const secondsToMidnight = (now: number): number => Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
/** When the day began that amounts are reserved of, epoch milliseconds. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS) * DAY_MS;

/** Nothing of a budget is left for what was asked. Whoever asked is told by `refusalOf`. */
export class BudgetUsedUp extends Error {
  override name = 'BudgetUsedUp';
  readonly claim: Pick<Claim, 'name' | 'dimension'>;
  constructor(claim: Pick<Claim, 'name' | 'dimension'>) {
    super(`the daily budget ${claim.name} of the ${claim.dimension} is used up`);
    this.claim = claim;
    count('quittance_budget_refusals_total', 1, { budget: claim.name, dimension: claim.dimension });
  }
}

/** What a caller is answered: 429 for a budget of its own, 503 for the environment's. Nothing was signed. */
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

/** What an amount is reserved of: the environment's budget and the tenth of it that is the account's. */
export const claimsOf = (limits: Limits, name: BudgetName, account: string, amount: bigint): Claim[] => [
  { name, dimension: 'environment', scope: name, period: 'day', cap: limits[name], amount },
  accountClaim(limits, name, account, amount),
];

/** The account's part of a budget alone. */
export const accountClaim = (limits: Limits, name: BudgetName, account: string, amount: bigint): Claim => ({
  ...{ name, dimension: 'account', scope: `${name}/account/${account}`, period: 'day' },
  ...{ cap: limits[name] / SHARES, amount },
});

/**
 * Reserves all of the claims for the running day, for the transaction that commits what they pay for.
 * @throws BudgetUsedUp; the transaction has to be rolled back then
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
 * The same question ahead of the work, reserving nothing.
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
 * Fees of settles. They are many, so the environment's and the vendor's budgets are drawn on in portions
 * (shared/db/budget.ts); the account's part is reserved by the statement that commits the bytes (transactions/store/transactions.ts).
 */
export const createSettleFees = (budgets: Budgets, limits: Limits, clock: Clock) => {
  const name = 'fees_settle';
  const environment: Budget = { scope: name, period: 'day', cap: limits[name] };
  const ofVendor = (account: string): Budget => ({
    ...{ scope: `${name}/vendor/${account}`, period: 'day', cap: limits[name] / SHARES },
  });
  return {
    /**
     * For bytes that are signed next; released when they are not committed.
     * @throws BudgetUsedUp
     */
    reserve: async (vendor: string, lamports: bigint): Promise<Reservation> => {
      const [whole, part] = await Promise.all([
        budgets.reserve(environment, lamports),
        budgets.reserve(ofVendor(vendor), lamports),
      ]);
      const release = () => {
        whole?.release();
        part?.release();
      };
      if (whole !== null && part !== null) return { release };
      release();
      throw new BudgetUsedUp({ name, dimension: whole === null ? 'environment' : 'vendor' });
    },
    /** The account's part of what is reserved with the commit of the bytes. */
    accountClaim: (account: string, lamports: bigint) => accountClaim(limits, name, account, lamports),
    /** Null: there is room for new settles. Else the seconds until there is again. */
    refillsInSeconds: async (): Promise<number | null> =>
      (await budgets.hasLeft(environment, environment.cap / HEADROOM)) ? null : secondsToMidnight(clock()),
    /** @throws BudgetUsedUp where a vendor's part of the day has no room for new quotes */
    checkVendor: async (vendor: string): Promise<void> => {
      const budget = ofVendor(vendor);
      if (!(await budgets.hasLeft(budget, budget.cap / HEADROOM)))
        throw new BudgetUsedUp({ name, dimension: 'vendor' });
    },
  };
};
export type SettleFees = ReturnType<typeof createSettleFees>;
