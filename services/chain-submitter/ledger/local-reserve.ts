import type { CommitOutcome, SignedTransition } from './store/commit-signed.ts';
import type { SpendingClaim } from './store/spending.ts';

/**
 * Part of a cap that is reserved ahead. It is far smaller than the parts of the environment's
 * budget, because a payer's budget is a tenth of that, and what is lost in the crashes of a day
 * adds up.
 */
const PARTS = 1000n;
const MAX_SCOPES = 10_000;

type Claiming = SignedTransition & { claim: SpendingClaim };
type ScopeReservation = { key: string; own: readonly Claiming[]; fromMemory: bigint; fromTable: bigint };

const keyOf = ({ scope, startsAt }: SpendingClaim): string => `${scope}@${startsAt}`;
const isClaiming = (transition: SignedTransition): transition is Claiming => transition.claim !== null;
const sum = (transitions: readonly Claiming[]): bigint =>
  transitions.reduce((total, { claim }) => total + claim.amount, 0n);

/**
 * Amounts of payers' budgets that this process has reserved ahead. A row that every commit updates
 * costs time, and is locked by every replica through its commit. A payer's first payment of a day
 * reserves only its amount. A further one reserves more, together with its bytes, and the next
 * commits consume the rest. The rest is in memory only. If the process dies, the rest is lost,
 * which makes a budget tighter until the day ends and never wider.
 */
export const createLocalReserve = () => {
  const left = new Map<string, bigint>();
  const set = (key: string, lamports: bigint): void => {
    // The first entry of the map is the least recently used one.
    left.delete(key);
    left.set(key, lamports);
    if (left.size > MAX_SCOPES) left.delete(left.keys().next().value as string);
  };

  const reserveOne = (key: string, own: readonly Claiming[], exactly: boolean): ScopeReservation => {
    const paidBefore = left.has(key);
    const available = left.get(key) ?? 0n;
    const needed = sum(own);
    const fromMemory = available < needed ? available : needed;
    // Consumed at once, so that a concurrent statement cannot use it too.
    if (paidBefore) set(key, available - fromMemory);
    const missing = needed - fromMemory;
    const ahead = paidBefore && !exactly ? own[0]!.claim.cap / PARTS : 0n;
    return { key, own, fromMemory, fromTable: missing > 0n && ahead > missing ? ahead : missing };
  };

  return {
    /**
     * @param exactly reserves nothing ahead
     * @returns the transitions with the claims that the table has to reserve, without a claim where
     *   enough is left here. `release` gets the outcomes and restores what was not used. If the
     *   outcomes are unknown it is not called, because all of the amount may have been used
     */
    reserve: (transitions: readonly SignedTransition[], exactly: boolean) => {
      const groups = Map.groupBy(transitions.filter(isClaiming), ({ claim }) => keyOf(claim));
      const reservations = [...groups].map(([key, own]) => reserveOne(key, own, exactly));
      const claims = new Map<SignedTransition, SpendingClaim>();
      for (const { own, fromTable } of reservations) {
        if (fromTable === 0n) continue;
        // The first transition claims the whole amount of its scope, and the others are refused
        // with it.
        for (const [index, transition] of own.entries())
          claims.set(transition, { ...transition.claim, amount: index === 0 ? fromTable : 0n });
      }
      return {
        transitions: transitions.map((transition): SignedTransition => {
          const claim = claims.get(transition) ?? null;
          return claim === transition.claim ? transition : { ...transition, claim };
        }),
        release: (outcomes: readonly CommitOutcome[]): void => {
          const outcomeOf = new Map(transitions.map((transition, index) => [transition, outcomes[index]!]));
          for (const { key, own, fromMemory, fromTable } of reservations) {
            const isRefused = own.some((transition) => outcomeOf.get(transition) === 'over_budget');
            // Bytes that were not committed are discarded, and their cost stays in the reserve.
            const used = sum(own.filter((transition) => typeof outcomeOf.get(transition) !== 'string'));
            set(key, (left.get(key) ?? 0n) + fromMemory + (isRefused ? 0n : fromTable) - used);
          }
        },
      };
    },
  };
};
