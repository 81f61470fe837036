import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { allowCreation } from '../quota.ts';
import { reading } from '../reading.ts';

/** Whether payouts to an owner have, or will be given, a token account. */
export const reserveTokenAccount =
  (deps: Deps): Handler<typeof chainSubmitter.internal.reserveTokenAccount> =>
  async ({ account_id, owner }) => {
    const state = await reading(deps.chain.payable(owner));
    if (state === 'ready') return { status: 'exists' };
    if (state === 'foreign') return { status: 'refused' };
    return { status: await reading(allowCreation(deps, account_id, owner)) };
  };
