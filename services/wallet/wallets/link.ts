import type { Handler } from '../../../shared/contract/service.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { observedView } from './observed-view.ts';
import { type RegisterDeps, register } from './register.ts';
import type { RefreshDeps } from './snapshots/refresh-snapshots.ts';

/** POST /v1/wallets. */
export const link =
  (deps: RegisterDeps & RefreshDeps): Handler<typeof wallet.operations.link> =>
  async ({ public_key, proof, label }, caller) => {
    const row = await register(deps, caller, {
      kind: 'external',
      publicKey: public_key,
      proof,
      label: label ?? null,
      backup: null,
    });
    return observedView(deps, row);
  };
