import { readUntil } from '../../shared/bus/read-until.ts';
import { isErrorCode, ServiceError } from '../../shared/contract/errors.ts';
import { newId } from '../../shared/lib/id.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import { isDecided } from '../../shared/lib/progress.ts';
import { type Deps, WAIT_MS, wakeKey } from './deps.ts';
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

const prepare = async (
  deps: Deps,
  row: WalletRow,
  what: Pick<PreparationRow, 'kind' | 'authority' | 'allowance'>,
): Promise<Prepared> => {
  const preparationId = newId('prep');
  const prepared = await deps.prepareDelegation({
    preparation_id: preparationId,
    account_id: row.account_id,
    owner: row.public_key,
    authority: what.authority,
    allowance: what.allowance === null ? null : formatMicro(what.allowance),
  });
  // Written after: nobody can submit what was not answered yet, so no fact can come before the row.
  await insertPreparation(deps.pool, {
    preparation_id: preparationId,
    wallet_id: row.wallet_id,
    ...what,
  });
  return prepared;
};

/** Prepares an approval. It goes to the authority for new onboardings, which the wallet's own may no longer be. */
export const prepareApprove = async (deps: Deps, row: WalletRow, allowance: bigint): Promise<Prepared> => {
  const { authority } = await deps.describeWallet(row.public_key);
  return prepare(deps, row, { kind: 'approve', authority, allowance });
};

/** Prepares the end of the delegation. */
export const prepareRevoke = (deps: Deps, row: WalletRow): Promise<Prepared> =>
  prepare(deps, row, { kind: 'revoke', authority: row.authority, allowance: null });

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
    throw new ServiceError('conflict', `nothing was prepared for this wallet: call ${first} first`);
  }
  const { preparation_id } = preparation;
  await deps.submitPrepared({ preparation_id, transaction });
  await markSubmitted(deps.pool, preparation_id);
  const outcome = await readUntil(deps.waiting, wakeKey.preparation(preparation_id), {
    read: () => preparationById(deps.pool, preparation_id),
    done: ({ status }) => isDecided(status),
    timeoutMs: WAIT_MS,
  });
  if (outcome.status === 'failed') {
    const code = isErrorCode(outcome.failure_code) ? outcome.failure_code : 'payment_failed';
    throw new ServiceError(code, outcome.failure_message ?? 'the transaction failed; prepare it again');
  }
  // Read again: a confirmed approval has changed what the wallet says of itself.
  const fresh = await ownWallet(deps, row.account_id, row.wallet_id);
  return seeWallet(deps, fresh, outcome.slot === null ? null : Number(outcome.slot));
};
