import type { Records } from '../../../shared/boot.ts';
import { notFound } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/index.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { complete, inOneCommit } from '../../../shared/idempotency/store.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import { WITHDRAWAL_LIFE_MS } from './model/withdrawal.ts';
import { type PrepareDeps, prepareWithdrawal } from './prepare-transfer.ts';
import { insertWithdrawal } from './store/withdrawals.ts';
import { showWithdrawal } from './view.ts';

type Deps = PrepareDeps & Pick<Records, 'pool' | 'clock'> & Pick<Peers, 'findWallet'>;

/** POST /v1/withdrawals. */
export const createWithdrawal =
  (deps: Deps): Handler<typeof funding.operations.createWithdrawal> =>
  async ({ wallet_id, amount, destination_address }, { account_id }, key) => {
    const wallet = await deps.findWallet({ account_id, wallet_id });
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
    // The row is inserted last: the owner cannot submit before the answer, so no event can precede
    // the row. Of several calls with one key only the first to commit inserts a row. The
    // preparations of the others are never answered, and no record refers to them.
    return inOneCommit(deps.pool, key, async (tx) => {
      const row = await insertWithdrawal(tx, { ...draft, destination_token_account });
      const answer = { ...showWithdrawal(row), ...prepared };
      await complete(tx, key, answer);
      return answer;
    });
  };
