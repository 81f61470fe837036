import { conflict, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { CallKey } from '../../../shared/contract/idempotency.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { abandon, begin, complete, inOneCommit, resume } from '../../../shared/idempotency/store.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Deps } from '../deps.ts';
import { insertDeposit, lookUpDeposit, openDeposit, transitionDeposit } from './store/deposits.ts';
import { showDeposit } from './view.ts';

/** The deposit that an earlier call with the key has begun, unless its time is over: nobody has a page to pay it by. */
const resumeDeposit = async ({ pool }: Deps, key: CallKey | undefined): Promise<string | null> => {
  const begun = await resume(pool, key);
  const row = begun === null ? null : await lookUpDeposit(pool, begun);
  return row?.status === 'created' && !row.elapsed ? row.deposit_id : null;
};

/** POST /v1/deposits/fiat. */
export const createDeposit =
  (deps: Deps): Handler<typeof funding.operations.createDeposit> =>
  async (input, caller, key) => {
    const { provider, fiat_currency, fiat_amount, redirect_url } = input;
    const onramp = deps.onramps[provider];
    if (onramp === undefined) {
      throw conflict(`provider: ${provider} is not set up in this environment`, {
        details: [{ path: 'provider', message: 'not set up in this environment' }],
      });
    }
    const wallet = await deps.findWallet(caller.account_id, input.wallet_id);
    if (wallet === null) throw notFound('wallet');

    const begun = await resumeDeposit(deps, key);
    const depositId = begun ?? newId('dep');
    if (begun === null) {
      // Written first: what a provider reports of a deposit must find it.
      await inOneCommit(deps.pool, key, async (tx) => {
        await insertDeposit(tx, {
          deposit_id: depositId,
          account_id: caller.account_id,
          wallet_id: wallet.wallet_id,
          owner: wallet.owner,
          provider,
          fiat_currency,
          fiat_amount,
        });
        await begin(tx, key, depositId);
      });
    }
    await failpoint('funding.afterBegun');
    try {
      const page = await onramp.open({
        depositId,
        owner: wallet.owner,
        fiatCurrency: fiat_currency,
        fiatAmount: fiat_amount,
        returnUrl: redirect_url ?? null,
      });
      await failpoint('funding.beforeFinished');
      return await inOneCommit(deps.pool, key, async (tx) => {
        const answer = showDeposit(await openDeposit(tx, depositId, page));
        await complete(tx, key, answer, depositId);
        return answer;
      });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // A page that was made and not told of cannot be paid: nobody has its address.
      const problem = { code: 'not_opened', message: error.message };
      await inOneCommit(deps.pool, key, async (tx) => {
        await transitionDeposit(tx, depositId, 'refused', { problem });
        await abandon(tx, key, depositId);
      });
      throw error;
    }
  };
