import type { z } from 'zod';
import { type AccountStatus, identity } from '../../shared/contract/identity.ts';
import { AccountId } from '../../shared/contract/primitives.ts';
import type { Said, Table } from './command.ts';
import type { Operator } from './connect.ts';
import { Refusal } from './refusal.ts';
import { tableText } from './table.ts';

type AccountStatusRow = z.infer<typeof AccountStatus>;

const HEAD = ['account', 'e-mail', 'created', 'frozen', 'limits'];
const rowOf = ({ account_id, email, created_at, frozen_at, limit_factor }: AccountStatusRow) => [
  account_id,
  email,
  created_at,
  frozen_at ?? 'no',
  `×${limit_factor}`,
];

/** Accounts as a table. */
export const accountStatusesSaid = (standings: readonly AccountStatusRow[]): Said => ({
  json: standings,
  text: standings.length === 0 ? 'None.' : tableText([HEAD, ...standings.map(rowOf)]),
});

/** @throws Refusal for what is no account's id, or no account of this environment */
export const accountStatusOf = async (
  operator: Operator,
  word: string | undefined,
): Promise<AccountStatusRow> => {
  const id = AccountId.safeParse(word);
  if (!id.success) throw new Refusal(`${word} is no account id (acct_…)`);
  const status = await operator.call(identity, 'getAccountStatus', { account_id: id.data });
  if (status === null) throw new Refusal(`there is no account ${word} in ${operator.environment}`);
  return status;
};

/** What a change of an account shows before it is made. */
export const changeTable = (
  { account_id, email }: AccountStatusRow,
  what: string,
  [now, then]: readonly [string, string],
): Table => [
  ['account', 'e-mail', 'what', 'now', 'then'],
  [account_id, email, what, now, then],
];

/** What a change of an account answers. */
export const changeSaid = (answer: { changed: boolean; account_status: AccountStatusRow } | null): Said => {
  if (answer === null) throw new Refusal('the account is gone');
  return { json: answer, text: accountStatusesSaid([answer.account_status]).text };
};
