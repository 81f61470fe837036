import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { refreshPayer } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';
import { evaluateWithPayer } from '../settlements/evaluate-with-payer.ts';
import { acceptWithinCaps } from '../settlements/hourly-caps.ts';
import {
  acceptOutgoing,
  type OutgoingAttempt,
  type OutgoingEvaluation,
} from '../settlements/store/accept-outgoing.ts';
import type { TermsCache } from '../settlements/terms-cache.ts';

type Deps = Parameters<typeof refreshPayer>[0] & {
  pool: Pool;
  clock: Clock;
  caps: HourlyCaps;
  terms: TermsCache;
};

/** Accepts an outgoing payment within the hourly caps. */
export const accept = async (
  deps: Deps,
  attempt: Omit<OutgoingAttempt, 'walletId' | 'authority' | 'cappedAt'>,
  options: { payer: Payer; abandonedAt: number },
): Promise<OutgoingEvaluation> => {
  const evaluation = await evaluateWithPayer(deps, options, async (payer) => {
    const cappedAt = deps.clock();
    const candidate = { ...attempt, walletId: payer.wallet_id, authority: payer.authority, cappedAt };
    const evaluated = await acceptWithinCaps(
      deps.caps,
      {
        payer: { wallet: payer.owner, accountId: attempt.accountId },
        amountMicro: attempt.amountMicro,
        at: cappedAt,
      },
      (isOverCap) => acceptOutgoing(deps.pool, candidate, { isOverCap }),
    );
    return { ...evaluated, candidate };
  });
  if (evaluation === null) return { decision: 'conflict', paused_seconds: null, compared: null };
  if (evaluation.decision === 'accepted') {
    await failpoint('settlement.afterAccept');
    count('quittance_settlements_total', 1, { outcome: 'accepted' });
    deps.terms.addExternal(evaluation.candidate, deps.clock());
  }
  return evaluation;
};
