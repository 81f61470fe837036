import { conflict, invalid } from '../../../shared/contract/errors.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Deps } from '../deps.ts';
import { tokenAccountJob } from '../snapshots/events.ts';
import { type Proof, proofProblem } from './model/proof.ts';
import { findWallet, findWalletByKey, insertWallet, type WalletRow } from './store.ts';

export type Registration = {
  kind: WalletRow['kind'];
  publicKey: string;
  proof: Proof;
  label: string | null;
  backup: string | null;
};

/** The wallet that holds the key already, when this registration would change nothing about it. */
const unchanged = (row: WalletRow, accountId: string, wanted: Registration): WalletRow => {
  if (row.account_id !== accountId) {
    throw conflict('this public key belongs to another account');
  }
  if (row.kind !== wanted.kind || row.label !== wanted.label || row.backup !== wanted.backup) {
    throw conflict('this public key is linked already, otherwise than asked for now');
  }
  return row;
};

/**
 * @throws ServiceError validation_error when the proof does not show that the account holds the key now
 */
export const checkProof = (deps: Deps, accountId: string, publicKey: string, proof: Proof): void => {
  const problem = proofProblem(proof, { accountId, publicKey, now: deps.clock() });
  if (problem !== null) throw invalid(problem.path, problem.message);
};

/**
 * Links or provisions a wallet of the caller. A repeat that changes nothing answers the same wallet.
 * @throws ServiceError validation_error for a bad proof, conflict for a key that is taken
 */
export const register = async (
  deps: Deps,
  caller: { account_id: string },
  wanted: Registration,
): Promise<WalletRow> => {
  const accountId = caller.account_id;
  checkProof(deps, accountId, wanted.publicKey, wanted.proof);
  const known = await findWalletByKey(deps.pool, wanted.publicKey);
  if (known !== null) return unchanged(known, accountId, wanted);

  const { token_account, authority } = await deps.describeWallet(wanted.publicKey);
  const wallet = {
    wallet_id: newId('wal'),
    account_id: accountId,
    kind: wanted.kind,
    public_key: wanted.publicKey,
    token_account,
    authority,
    label: wanted.label,
    backup: wanted.backup,
    created_at: deps.clock(),
  };
  const jobs = await deps.pool.transaction(async (tx): Promise<readonly OutboxRow[] | null> => {
    if (!(await insertWallet(tx, wallet))) return null;
    return wanted.kind === 'provisioned' ? insertOutbox(tx, [tokenAccountJob(wallet, 0)]) : [];
  });
  if (jobs === null) {
    const winner = await findWalletByKey(deps.pool, wanted.publicKey);
    return unchanged(winner!, accountId, wanted);
  }
  deps.relay.dispatch(jobs);
  return (await findWallet(deps.pool, accountId, wallet.wallet_id))!;
};
