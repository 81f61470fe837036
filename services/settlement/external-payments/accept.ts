import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { refreshPayer } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';
import { acceptWithinCaps } from '../settlements/hourly-caps.ts';
import {
  acceptExternal,
  type ExternalAttempt,
  type ExternalDecision,
  type ExternalEvaluation,
} from '../settlements/store/accept-external.ts';
import type { TermsCache } from '../settlements/terms-cache.ts';

type Deps = Parameters<typeof refreshPayer>[0] & {
  pool: Pool;
  clock: Clock;
  caps: HourlyCaps;
  terms: TermsCache;
};

const MAX_CONFLICTS = 5;
const ABOUT_PAYER: readonly ExternalDecision[] = ['payer_unknown', 'balance_short', 'allowance_short'];

/**
 * Accepts an outgoing payment within the hourly caps. One that the last snapshot of its payer
 * cannot pay is evaluated a second time, on a new snapshot from the chain, as `createAccept` does
 * for a settle.
 */
export const accept = async (
  deps: Deps,
  attempt: Omit<ExternalAttempt, 'walletId' | 'authority'>,
  options: { payer: Payer; abandonedAt: number },
): Promise<ExternalEvaluation> => {
  let { payer } = options;
  let isRefreshed = false;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
    await failpoint('settlement.beforeAccept');
    if (performance.now() >= options.abandonedAt) break;
    const candidate = { ...attempt, walletId: payer.wallet_id, authority: payer.authority };
    const evaluation = await acceptWithinCaps(
      deps.caps,
      {
        payer: { wallet: payer.owner, accountId: attempt.accountId },
        amountMicro: attempt.amountMicro,
      },
      (isOverCap) => acceptExternal(deps.pool, candidate, { isOverCap }),
    );
    const { decision } = evaluation;
    if (decision === 'accepted') {
      await failpoint('settlement.afterAccept');
      count('quittance_settlements_total', 1, { outcome: 'accepted' });
      deps.terms.addExternal(candidate, deps.clock());
      return evaluation;
    }
    if (ABOUT_PAYER.includes(decision) && !isRefreshed) {
      payer = await refreshPayer(deps, payer);
      isRefreshed = true;
    } else if (decision === 'conflict') conflicts += 1;
    else return evaluation;
  }
  return { decision: 'conflict', paused_seconds: null };
};
