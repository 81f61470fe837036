import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { register } from './register.ts';
import { seeWallet } from './view.ts';

/** POST /v1/wallets. */
export const link =
  (deps: Deps): Handler<typeof wallet.operations.link> =>
  async ({ public_key, proof, label }, caller) => {
    const row = await register(deps, caller, {
      kind: 'external',
      publicKey: public_key,
      proof,
      label: label ?? null,
      backup: null,
    });
    return seeWallet(deps, row);
  };
