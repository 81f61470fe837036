import type { Records } from '../../../shared/boot.ts';
import { conflict, invalid } from '../../../shared/contract/errors.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Peers } from '../peers.ts';
import { tokenAccountJob } from './events.ts';
import { type Proof, proofProblem } from './model/proof.ts';
import { insertSnapshot } from './snapshots/store.ts';
import { findWalletByKey, getWallet, insertWallet, type WalletRow } from './store.ts';

export type RegisterDeps = Pick<Records, 'pool' | 'clock' | 'relay'> & Pick<Peers, 'describeWallet'>;

type Registration = {
  kind: WalletRow['kind'];
  publicKey: string;
  proof: Proof;
  label: string | null;
  backup: string | null;
};

/** The wallet that has the key already, when this registration would change nothing about it. */
const unchanged = (row: WalletRow, accountId: string, input: Registration): WalletRow => {
  if (row.account_id !== accountId) {
    throw conflict('this public key belongs to another account');
  }
  if (row.kind !== input.kind || row.label !== input.label || row.backup !== input.backup) {
    throw conflict('this public key is linked already, with another kind, label or backup: use that wallet');
  }
  return row;
};

/**
 * @throws ServiceError validation_error unless the proof shows that the account holds the key now
 */
export const checkProof = (
  { clock }: { clock: Clock },
  accountId: string,
  publicKey: string,
  proof: Proof,
): void => {
  const problem = proofProblem(proof, { accountId, publicKey, now: clock() });
  if (problem !== null) throw invalid(problem.path, problem.message);
};

/**
 * Links or provisions a wallet of the caller. A repeat that changes nothing answers the same
 * wallet.
 * @throws ServiceError validation_error for a wrong proof, conflict for a key that has a wallet
 *   already
 */
export const register = async (
  deps: RegisterDeps,
  { account_id }: { account_id: string },
  input: Registration,
): Promise<WalletRow> => {
  const { pool, clock } = deps;
  checkProof(deps, account_id, input.publicKey, input.proof);
  const existing = await findWalletByKey(pool, input.publicKey);
  if (existing !== null) return unchanged(existing, account_id, input);

  const { token_account, authority } = await deps.describeWallet({ public_key: input.publicKey });
  const wallet = {
    wallet_id: newId('wal'),
    account_id,
    kind: input.kind,
    public_key: input.publicKey,
    token_account,
    authority,
    label: input.label,
    backup: input.backup,
    created_at: clock(),
  };
  const jobs = await pool.transaction(async (tx): Promise<readonly OutboxRow[] | null> => {
    if (!(await insertWallet(tx, wallet))) return null;
    await insertSnapshot(tx, wallet.wallet_id);
    const details = { wallet_id: wallet.wallet_id, public_key: wallet.public_key };
    await insertSecurityNote(tx, 'wallet', { account_id, kind: 'wallet_linked', details });
    return input.kind === 'provisioned' ? insertOutbox(tx, [tokenAccountJob(wallet, 0)]) : [];
  });
  if (jobs === null) {
    const inserted = await findWalletByKey(pool, input.publicKey);
    return unchanged(inserted!, account_id, input);
  }
  deps.relay.dispatch(jobs);
  return getWallet(pool, account_id, wallet.wallet_id);
};
