import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { isDecided } from '../../../shared/lib/chain-work.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { register } from '../register.ts';
import { ownWallet, seeWallet } from '../view.ts';

/** POST /v1/wallets/provision. Answers once the token account is there, and without it when that takes long. */
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
    const row = await readUntil(deps.waiting, wakeKey.tokenAccount(wallet_id), {
      read: () => ownWallet(deps, caller.account_id, wallet_id),
      done: ({ token_account_status: status }) => status === null || isDecided(status),
      timeoutMs: deps.chainWaitMs,
    });
    return seeWallet(deps, row);
  };
