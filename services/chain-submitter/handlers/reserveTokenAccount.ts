import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { TOKEN_ACCOUNT_LAMPORTS } from '../caps.ts';
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
    // Here and nowhere later does a used-up daily budget say no: what is granted is paid for when it is settled.
    const inBudget = () => deps.caps.hasLamports(TOKEN_ACCOUNT_LAMPORTS);
    return { status: await reading(allowCreation(deps, account_id, owner, inBudget)) };
  };
