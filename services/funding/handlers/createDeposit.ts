import { ServiceError } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { showDeposit } from '../deposit-view.ts';
import type { Deps } from '../deps.ts';
import { insertDeposit, moveDeposit, openDeposit } from '../store/deposits.ts';

/** POST /v1/deposits/fiat. */
export const createDeposit =
  (deps: Deps): Handler<typeof funding.operations.createDeposit> =>
  async (input, caller) => {
    const { provider, fiat_currency, fiat_amount, redirect_url } = input;
    const onramp = deps.onramps[provider];
    if (onramp === undefined) {
      throw new ServiceError('conflict', `provider: ${provider} is not set up in this environment`, {
        details: [{ path: 'provider', message: 'not set up in this environment' }],
      });
    }
    const wallet = await deps.findWallet(caller.account_id, input.wallet_id);
    if (wallet === null) throw new ServiceError('not_found', 'no such wallet');

    // Written first: what a provider reports of a deposit must find it.
    const depositId = newId('dep');
    await insertDeposit(deps.pool, {
      deposit_id: depositId,
      account_id: caller.account_id,
      wallet_id: wallet.wallet_id,
      owner: wallet.owner,
      provider,
      fiat_currency,
      fiat_amount,
    });
    try {
      const page = await onramp.open({
        depositId,
        owner: wallet.owner,
        fiatCurrency: fiat_currency,
        fiatAmount: fiat_amount,
        returnUrl: redirect_url ?? null,
      });
      return showDeposit(await openDeposit(deps.pool, depositId, page));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // A page that was made and not told of cannot be paid: nobody has its address.
      const problem = { code: 'not_opened', message: error.message };
      await moveDeposit(deps.pool, depositId, 'refused', { problem });
      throw error;
    }
  };
