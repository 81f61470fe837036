import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { conflict, isErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { isDecided } from '../../../shared/lib/chain/chain-work.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { observedView } from '../wallets/observed-view.ts';
import type { RefreshDeps } from '../wallets/snapshots/refresh-snapshots.ts';
import { getWallet, type WalletRow } from '../wallets/store.ts';
import type { WalletView } from '../wallets/view.ts';
import {
  findLatestPreparation,
  getPreparation,
  type PreparationRow,
  recordSubmission,
} from './store/preparations.ts';
import { wakeKey } from './wake-key.ts';

export type SubmitDelegationDeps = RefreshDeps & { waiting: Waiting } & Pick<Terms, 'chainWaitMs'> &
  Pick<Peers, 'submitPrepared'>;

/**
 * Submits the transaction that the owner signed and waits for the chain. Repeatable:
 * chain-submitter answers the same bytes with the same result, and the record has the outcome.
 * @returns the wallet; its delegation is `pending` when the wait ended before the chain decided
 * @throws ServiceError conflict when no transaction of this kind was prepared; the code of the
 *   failure for a failed one
 */
export const submitDelegation = async (
  deps: SubmitDelegationDeps,
  row: WalletRow,
  kind: PreparationRow['kind'],
  transaction: string,
): Promise<WalletView> => {
  const preparation = await findLatestPreparation(deps.pool, row.wallet_id, kind);
  if (preparation === null) {
    const first = kind === 'approve' ? 'onboarding' : 'revoke without a transaction';
    throw conflict(`the wallet has no prepared transaction: call ${first} first`);
  }
  const { preparation_id } = preparation;
  await deps.submitPrepared({ preparation_id, transaction });
  await recordSubmission(deps.pool, preparation_id);
  const outcome = await readUntil(deps.waiting, wakeKey(preparation_id), {
    read: () => getPreparation(deps.pool, preparation_id),
    done: ({ status }) => isDecided(status),
    timeoutMs: deps.chainWaitMs,
  });
  if (outcome.status === 'failed') {
    const code = isErrorCode(outcome.failure_code) ? outcome.failure_code : 'payment_failed';
    throw new ServiceError(code, outcome.failure_message ?? 'the transaction failed; prepare it again');
  }
  // The outcome has changed the columns that are derived from preparations.
  const fresh = await getWallet(deps.pool, row.account_id, row.wallet_id);
  return observedView(deps, fresh, outcome.slot === null ? null : Number(outcome.slot));
};
