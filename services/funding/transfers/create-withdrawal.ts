import { notFound } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { complete, inOneCommit } from '../../../shared/idempotency/store.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { WITHDRAWAL_LIFE_MS } from './model/withdrawal.ts';
import { insertWithdrawal } from './store/withdrawals.ts';
import { showWithdrawal } from './view.ts';
import { prepareWithdrawal } from './withdrawals.ts';

/** POST /v1/withdrawals. */
export const createWithdrawal =
  (deps: Deps): Handler<typeof funding.operations.createWithdrawal> =>
  async ({ wallet_id, amount, destination_address }, { account_id }, key) => {
    const wallet = await deps.findWallet(account_id, wallet_id);
    if (wallet === null) throw notFound('wallet');
    const created_at = deps.clock();
    const draft = {
      withdrawal_id: newId('wd'),
      account_id,
      wallet_id,
      owner: wallet.owner,
      amount: parseMicro(amount),
      destination_address,
      created_at,
      pending_until: created_at + WITHDRAWAL_LIFE_MS,
    };
    const { destination_token_account, ...prepared } = await prepareWithdrawal(deps, draft);
    // Written after: nobody can submit what was not answered yet, so no fact can come before the row. Of several calls
    // with one key, all but the first to commit leave a preparation that nobody has and no record names.
    return inOneCommit(deps.pool, key, async (tx) => {
      const row = await insertWithdrawal(tx, { ...draft, destination_token_account });
      const answer = { ...showWithdrawal(row), ...prepared };
      await complete(tx, key, answer);
      return answer;
    });
  };
