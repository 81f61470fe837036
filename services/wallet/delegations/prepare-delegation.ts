import type { Records } from '../../../shared/boot.ts';
import { newId } from '../../../shared/lib/id.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import type { WalletRow } from '../wallets/store.ts';
import { insertPreparation } from './store/preparations.ts';

export type PrepareDelegationDeps = Pick<Records, 'pool'> & Pick<Peers, 'prepareDelegation'>;

export type Prepared = { transaction: string; expires_at: string };

/**
 * Prepares a transaction for the owner's signature. An earlier preparation that was not submitted
 * becomes void.
 * @param allowance what the platform may spend; null to revoke
 */
export const prepareDelegation = async (
  deps: PrepareDelegationDeps,
  { account_id, wallet_id, public_key: owner }: WalletRow,
  allowance: bigint | null,
): Promise<Prepared> => {
  const preparation_id = newId('prep');
  const prepared = await deps.prepareDelegation({
    preparation_id,
    account_id,
    owner,
    allowance: allowance === null ? null : formatMicro(allowance),
  });
  // Inserted last: the owner cannot submit before the answer, so no event can precede the row.
  await insertPreparation(deps.pool, {
    preparation_id,
    wallet_id,
    kind: allowance === null ? 'revoke' : 'approve',
    allowance,
  });
  return prepared;
};
