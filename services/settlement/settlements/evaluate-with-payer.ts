import { failpoint } from '../../../shared/lib/failpoint.ts';
import { refreshPayer } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';

/**
 * A statement that meets a concurrent insert saw an older snapshot. The next one sees the inserted
 * row. More conflicts than this indicate a bug.
 */
const MAX_CONFLICTS = 5;
/** The decisions that a newer snapshot of the payer may change. */
const ABOUT_PAYER: readonly string[] = ['payer_unknown', 'balance_short', 'allowance_short'];

/**
 * Evaluates an attempt until its decision is final: after a conflict once more, and if the last
 * snapshot of its payer cannot pay it, a second time on a new snapshot from the chain.
 * @returns null after too many conflicts, or when the call is too old to accept anything
 */
export const evaluateWithPayer = async <E extends { decision: string }>(
  deps: Parameters<typeof refreshPayer>[0],
  options: { payer: Payer; abandonedAt: number },
  evaluate: (payer: Payer) => Promise<E>,
): Promise<E | null> => {
  let { payer } = options;
  let isRefreshed = false;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
    await failpoint('settlement.beforeAccept');
    if (performance.now() >= options.abandonedAt) return null;
    const evaluation = await evaluate(payer);
    if (ABOUT_PAYER.includes(evaluation.decision) && !isRefreshed) {
      payer = await refreshPayer(deps, payer);
      isRefreshed = true;
    } else if (evaluation.decision === 'conflict') conflicts += 1;
    else return evaluation;
  }
  return null;
};
