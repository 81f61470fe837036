import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { isPartOfKeys } from '../keys/store.ts';
import { type PayerRefresher, refreshPayer } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';
import { OF_WALLET } from '../record/store/refusals.ts';
import type { Terms } from '../record/store/settlements.ts';
import { acceptWithinCaps } from './hourly-caps.ts';
import type { Rail } from './rail.ts';
import type { TermsCache } from './terms-cache.ts';

/**
 * A statement that meets a concurrent insert saw an older snapshot. The next one sees the inserted
 * row. More conflicts than this indicate a bug.
 */
const MAX_CONFLICTS = 5;

type Accepting = { clock: Clock; terms: TermsCache };
export type HoldingDeps = Accepting & PayerRefresher & { caps: HourlyCaps };

/**
 * Completes the acceptance of a payment of any rail, after its commit.
 * @returns its terms
 */
export const recordAccepted = async <Attempt>(
  { terms, clock }: Accepting,
  { termsOf }: Pick<Rail<Attempt, never>, 'termsOf'>,
  attempt: Attempt,
): Promise<Terms> => {
  await failpoint('settlement.afterAccept');
  count('quittance_settlements_total', 1, { outcome: 'accepted' });
  const own = termsOf(attempt, clock());
  // The capture of an authorization decides its amount.
  if (own.ceiling === null) terms.add(own);
  return own;
};

/** What a payment of a wallet here is accepted with. */
export type Holding = { payer: Payer; amountMicro: bigint; abandonedAt: number };
/** One evaluation of it. `at`: the moment in whose hour the caps count the amount. */
type Candidate = { payer: Payer; isOverCap: boolean; at: number };

/** An evaluation that failed because another transaction has taken a key of the payment. */
const orConflict = async <E extends { decision: string }>(evaluation: Promise<E>): Promise<E> => {
  try {
    return await evaluation;
  } catch (error) {
    // A conflict is evaluated again, so nothing reads the rest of it.
    if (isPartOfKeys(error)) return { decision: 'conflict' } as E;
    throw error;
  }
};

/**
 * Accepts a payment that holds an amount of a wallet here, within the hourly caps. It is evaluated
 * until the decision is final: after a conflict once more, and if the last snapshot of its payer
 * cannot pay it, a second time on a new snapshot from the chain.
 * @returns null after too many conflicts, or when the call is too old to accept anything
 */
export const acceptHolding = async <E extends { decision: string }>(
  deps: HoldingDeps,
  { payer: first, amountMicro, abandonedAt }: Holding,
  evaluate: (candidate: Candidate) => Promise<E>,
): Promise<E | null> => {
  let payer = first;
  let isRefreshed = false;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
    await failpoint('settlement.beforeAccept');
    if (performance.now() >= abandonedAt) return null;
    const at = deps.clock();
    const capped = { payer: { wallet: payer.owner, accountId: payer.account_id }, amountMicro, at };
    const evaluation = await acceptWithinCaps(deps.caps, capped, (isOverCap) =>
      orConflict(evaluate({ payer, isOverCap, at })),
    );
    if (Object.hasOwn(OF_WALLET, evaluation.decision) && !isRefreshed) {
      payer = await refreshPayer(deps, payer);
      isRefreshed = true;
    } else if (evaluation.decision === 'conflict') conflicts += 1;
    else return evaluation;
  }
  return null;
};
