import type { SpendingClaim, CommitOutcome, SignedTransition } from '../intents/store/intents.ts';

/** Far smaller than those of the environment: a payer's budget is a tenth of it, and crashes of a day add up. */
const PARTS = 1000n;
const MAX_SCOPES = 10_000;

type Claiming = SignedTransition & { claim: SpendingClaim };
type LocalReservation = { key: string; own: readonly Claiming[]; fromMemory: bigint; fromTable: bigint };

const keyOf = ({ scope, startsAt }: SpendingClaim): string => `${scope}@${startsAt}`;
const isClaiming = (transition: SignedTransition): transition is Claiming => transition.claim !== null;
const sum = (transitions: readonly Claiming[]): bigint =>
  transitions.reduce((all, { claim }) => all + claim.amount, 0n);

/**
 * Portions of the budgets that the committing statement reserves of. A row that every commit updates costs each of them,
 * and is locked by every replica through its commit. Who pays once in a day reserves just that; who pays again through
 * this process reserves a portion, with the bytes, and the next commits use what is left of it. What is left is memory
 * only: with a process it is lost, which makes a budget tighter until the day ends and never wider.
 */
export const createLocalReserve = () => {
  const left = new Map<string, bigint>();
  const put = (key: string, lamports: bigint): void => {
    // The first in the map is the one that was used least lately.
    left.delete(key);
    left.set(key, lamports);
    if (left.size > MAX_SCOPES) left.delete(left.keys().next().value as string);
  };

  const reserveOne = (key: string, own: readonly Claiming[], exactly: boolean): LocalReservation => {
    const paidBefore = left.has(key);
    const kept = left.get(key) ?? 0n;
    const needed = sum(own);
    const fromMemory = kept < needed ? kept : needed;
    // At once: what a statement under way may use, no other one may.
    if (paidBefore) put(key, kept - fromMemory);
    const missing = needed - fromMemory;
    const portion = paidBefore && !exactly ? own[0]!.claim.cap / PARTS : 0n;
    return { key, own, fromMemory, fromTable: missing > 0n && portion > missing ? portion : missing };
  };

  return {
    /**
     * @param exactly without a portion
     * @returns the transitions with what the table has to reserve for them, none where enough is left here; `keep` is told what
     * became of them. When nobody knows, nothing is kept, because all of it may have been used
     */
    reserve: (transitions: readonly SignedTransition[], exactly: boolean) => {
      const groups = Map.groupBy(transitions.filter(isClaiming), ({ claim }) => keyOf(claim));
      const draws = [...groups].map(([key, own]) => reserveOne(key, own, exactly));
      const claimOf = new Map<SignedTransition, SpendingClaim>();
      for (const { own, fromTable } of draws) {
        if (fromTable === 0n) continue;
        // The first asks for all of its scope; the others are refused with it.
        for (const [index, transition] of own.entries())
          claimOf.set(transition, { ...transition.claim, amount: index === 0 ? fromTable : 0n });
      }
      return {
        transitions: transitions.map(
          (transition): SignedTransition => ({ ...transition, claim: claimOf.get(transition) ?? null }),
        ),
        keep: (outcomes: readonly CommitOutcome[]): void => {
          const outcomeOf = new Map(transitions.map((transition, index) => [transition, outcomes[index]!]));
          for (const { key, own, fromMemory, fromTable } of draws) {
            const isRefused = own.some((transition) => outcomeOf.get(transition) === 'over_budget');
            // Bytes that were not committed are forgotten, and what they would have cost is left.
            const used = sum(own.filter((transition) => typeof outcomeOf.get(transition) !== 'string'));
            put(key, (left.get(key) ?? 0n) + fromMemory + (isRefused ? 0n : fromTable) - used);
          }
        },
      };
    },
  };
};
