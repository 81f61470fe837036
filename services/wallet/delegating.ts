import { readUntil } from '../../shared/bus/read-until.ts';
import { conflict, isErrorCode, ServiceError } from '../../shared/contract/errors.ts';
import { isDecided } from '../../shared/lib/chain-work.ts';
import { newId } from '../../shared/lib/id.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import { type Deps, wakeKey } from './deps.ts';
import {
  insertPreparation,
  latestPreparation,
  markSubmitted,
  type PreparationRow,
  preparationById,
} from './store/preparations.ts';
import type { WalletRow } from './store/wallets.ts';
import { ownWallet, seeWallet, type WalletView } from './view.ts';

export type Prepared = { transaction: string; expires_at: string };

/**
 * Prepares a transaction for the owner's signature; an earlier preparation that was not submitted is void.
 * @param allowance what the platform may spend, null to revoke
 */
export const prepare = async (deps: Deps, row: WalletRow, allowance: bigint | null): Promise<Prepared> => {
  const preparationId = newId('prep');
  const prepared = await deps.prepareDelegation({
    preparation_id: preparationId,
    account_id: row.account_id,
    owner: row.public_key,
    allowance: allowance === null ? null : formatMicro(allowance),
  });
  // Written after: nobody can submit what was not answered yet, so no fact can come before the row.
  await insertPreparation(deps.pool, {
    preparation_id: preparationId,
    wallet_id: row.wallet_id,
    kind: allowance === null ? 'revoke' : 'approve',
    allowance,
  });
  return prepared;
};

/**
 * Submits what the owner signed and waits for the chain. Repeatable: chain-submitter answers the same bytes with the
 * same result, and the record keeps the outcome.
 * @returns the wallet, its delegation `pending` when the chain took longer than the wait
 * @throws ServiceError conflict when nothing of this kind was prepared, or the code of the failure
 */
export const submitSigned = async (
  deps: Deps,
  row: WalletRow,
  kind: PreparationRow['kind'],
  transaction: string,
): Promise<WalletView> => {
  const preparation = await latestPreparation(deps.pool, row.wallet_id, kind);
  if (preparation === null) {
    const first = kind === 'approve' ? 'onboarding' : 'revoke without a transaction';
    throw conflict(`nothing was prepared for this wallet: call ${first} first`);
  }
  const { preparation_id } = preparation;
  await deps.submitPrepared({ preparation_id, transaction });
  await markSubmitted(deps.pool, preparation_id);
  const outcome = await readUntil(deps.waiting, wakeKey.preparation(preparation_id), {
    read: () => preparationById(deps.pool, preparation_id),
    done: ({ status }) => isDecided(status),
    timeoutMs: deps.chainWaitMs,
  });
  if (outcome.status === 'failed') {
    const code = isErrorCode(outcome.failure_code) ? outcome.failure_code : 'payment_failed';
    throw new ServiceError(code, outcome.failure_message ?? 'the transaction failed; prepare it again');
  }
  // Read again: the outcome has changed what the record says of the delegation.
  const fresh = await ownWallet(deps, row.account_id, row.wallet_id);
  return seeWallet(deps, fresh, outcome.slot === null ? null : Number(outcome.slot));
};
