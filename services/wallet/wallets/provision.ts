import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { isDecided } from '../../../shared/lib/chain/chain-work.ts';
import { observedView } from './observed-view.ts';
import { type RegisterDeps, register } from './register.ts';
import type { RefreshDeps } from './snapshots/refresh-snapshots.ts';
import { getWallet } from './store.ts';
import { wakeKey } from './wake-key.ts';

type Deps = RegisterDeps &
  RefreshDeps & {
    waiting: Waiting;
    /** How long a call waits for the chain before it answers with the state reached so far. */
    chainWaitMs: number;
  };

/**
 * POST /v1/wallets/provision. Answers once the token account exists, or without it when the wait is
 * over.
 */
export const provision =
  (deps: Deps): Handler<typeof wallet.operations.provision> =>
  async ({ public_key, proof, label, backup }, caller) => {
    const { wallet_id } = await register(deps, caller, {
      kind: 'provisioned',
      publicKey: public_key,
      proof,
      label: label ?? null,
      backup: backup ?? null,
    });
    const row = await readUntil(deps.waiting, wakeKey(wallet_id), {
      read: () => getWallet(deps.pool, caller.account_id, wallet_id),
      done: ({ token_account_status: status }) => status === null || isDecided(status),
      timeoutMs: deps.chainWaitMs,
    });
    return observedView(deps, row);
  };
