import { invalid, notFound } from '../../shared/contract/errors.ts';
import type { DelegateSpending, Deps } from './deps.ts';
import { type DelegateRow, findOwnDelegate } from './store/delegates.ts';
import { showDelegate } from './view.ts';

/**
 * Epoch milliseconds of an expiry that lies ahead.
 * @throws ServiceError validation_error
 */
export const expiryOf = ({ clock }: Pick<Deps, 'clock'>, text: string): number => {
  const time = Date.parse(text);
  // A date such as the 30th of February parses to another one, or to none.
  const isDate = !Number.isNaN(time) && new Date(time).toISOString().slice(0, 19) === text.slice(0, 19);
  if (isDate && time > clock()) return time;
  const message = isDate ? 'must be in the future' : 'is no date';
  throw invalid('expires_at', message);
};

/**
 * What each of these delegates may spend, asked of settlement once.
 * @returns a look-up that throws for a delegate that settlement does not know: its database was set back
 */
export const spendingOf = async (
  deps: Pick<Deps, 'listDelegateSpending'>,
  accountId: string,
  rows: readonly DelegateRow[],
): Promise<(delegateId: string) => DelegateSpending> => {
  const ids = rows.map(({ delegate_id }) => delegate_id);
  const found = ids.length === 0 ? [] : await deps.listDelegateSpending(accountId, ids);
  const byId = new Map(found.map((spending) => [spending.delegate_id, spending]));
  return (id) => {
    const spending = byId.get(id);
    if (spending === undefined) throw new Error(`settlement does not know ${id}`);
    return spending;
  };
};

/** The account's delegate as it is shown. @throws ServiceError not_found */
export const ownDelegate = async (deps: Deps, accountId: string, delegateId: string) => {
  const row = await findOwnDelegate(deps.pool, accountId, delegateId);
  if (row === null) throw notFound('delegate');
  return showDelegate(row, (await spendingOf(deps, accountId, [row]))(delegateId));
};
