import type { z } from 'zod';
import { type AccountStatus, identity } from '../../shared/contract/identity.ts';
import type { Inspection } from '../../shared/contract/operator.ts';
import { AccountId } from '../../shared/contract/primitives.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { type CommandOutput, inspectionInput, type Table } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type AccountStatusRow = z.infer<typeof AccountStatus>;

/** The address of an account, as operators read it. */
export const emailText = ({ email }: Pick<AccountStatusRow, 'email'>): string => email ?? 'erased';

const HEAD = ['account', 'e-mail', 'created', 'closed', 'frozen', 'limits'];
const rowOf = ({ account_id, created_at, closed_at, frozen_at, limit_factor, ...row }: AccountStatusRow) => [
  account_id,
  emailText(row),
  created_at,
  closed_at ?? 'no',
  frozen_at ?? 'no',
  `×${limit_factor}`,
];

/** A table of accounts. */
export const accountStatusesOutput = (statuses: readonly AccountStatusRow[]): CommandOutput => ({
  json: statuses,
  text: statuses.length === 0 ? 'None.' : tableText([HEAD, ...statuses.map(rowOf)]),
});

/** @throws Refusal if the id is invalid or the account does not exist */
export const accountStatusOf = async (
  operator: Operator,
  argument: string | undefined,
  inspection: Inspection | null,
): Promise<AccountStatusRow> => {
  const id = AccountId.safeParse(argument);
  if (!id.success) throw new Refusal(`${argument} is not an account id (acct_…)`);
  const status = await operator.call(identity, 'getAccountStatus', {
    account_id: id.data,
    ...inspectionInput(inspection),
  });
  if (status === null) throw new Refusal(`there is no account ${argument} in ${operator.environment}`);
  return status;
};

/** The table of a planned change of an account. */
export const changeTable = (
  { account_id, email }: AccountStatusRow,
  what: string,
  [now, then]: readonly [string, string],
): Table => [
  ['account', 'e-mail', 'what', 'now', 'then'],
  [account_id, emailText({ email }), what, now, then],
];

/** The output of a change of an account. */
export const changeOutput = (
  answer: { changed: boolean; account_status: AccountStatusRow } | null,
): CommandOutput => {
  if (answer === null) throw new Refusal('the account no longer exists');
  return { json: answer, text: accountStatusesOutput([answer.account_status]).text };
};
