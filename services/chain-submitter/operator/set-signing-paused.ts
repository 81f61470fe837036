import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { changeByOperator } from '../../../shared/operator/actions.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { getLostUntilHeight } from '../ledger/store/lost-records.ts';
import { lockPaused, updatePaused } from '../ledger/store/settings.ts';
import { getSigningStatus, type SigningDeps } from './signing-status.ts';

type Deps = SigningDeps & { rpc: RpcPool };

/**
 * Refuses to resume while transactions whose records are lost may still be included: another one of
 * the same payment would be a second payment.
 */
const refuseTooEarly = async ({ pool, rpc }: Deps): Promise<void> => {
  const until = await getLostUntilHeight(pool);
  if (until === null) return;
  const heights = await readForCaller(rpc.every((provider) => provider.blockHeight('finalized')));
  const lowest = Math.min(...heights);
  if (lowest <= until)
    throw conflict(
      `transactions whose records are lost may be included until block ${until}; block ${lowest} is final: repeat the command in a minute`,
    );
};

/** Pauses or resumes all signing. Every replica applies it to its next intent. */
export const setSigningPaused =
  (deps: Deps): Handler<typeof chainSubmitter.internal.setSigningPaused> =>
  async ({ paused, ...operator }) => {
    if (!paused) await refuseTooEarly(deps);
    const { changed } = await changeByOperator(deps.pool, operator, {
      action: paused ? 'signing.pause' : 'signing.resume',
      target: 'signing',
      lock: lockPaused,
      isSo: (before) => before === paused,
      change: (tx) => updatePaused(tx, paused),
      show: (state) => ({ paused: state }),
    });
    return { changed, signing: await getSigningStatus(deps) };
  };
