import type { Records } from '../../../shared/boot.ts';
import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Peers } from '../peers.ts';
import { getSpending } from './spending.ts';
import { findDelegateRow } from './store.ts';
import { showDelegate } from './view.ts';

/** GET /v1/delegates/me: the limits and the usage of a key, for the key itself. */
export const getOwnDelegate =
  (
    deps: Pick<Records, 'pool'> & Pick<Peers, 'listDelegateSpending'>,
  ): Handler<typeof identity.operations.getOwnDelegate> =>
  async (_input, { account_id, delegate_id }) => {
    const row = await findDelegateRow(deps.pool, account_id, delegate_id);
    if (row === null) throw notFound('delegate');
    const spending = await getSpending(deps, account_id, [row]);
    return showDelegate(row, spending(delegate_id));
  };
