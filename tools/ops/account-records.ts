import { MAX_REFERENCES } from '../../shared/contract/operator.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { displayUsdc } from '../../shared/lib/usdc.ts';
import { accountNamed } from './account-search.ts';
import { accountStatusesOutput } from './account-status.ts';
import {
  type AccountView,
  accountConclusions,
  counted,
  holdsOf,
  kindsTable,
  paymentsTable,
  transfersTable,
  viewOf,
  walletsTable,
} from './account-view.ts';
import { askEach, missingText } from './ask-services.ts';
import type { Command, Table } from './command.ts';
import type { Operator } from './connect.ts';
import { serviceContracts } from './service-contracts.ts';
import { foldText, tableText } from './table.ts';

type Span = { since: string | null; limit: number };

/** The account that an argument names, with its records of all services. */
const readAccount = async (operator: Operator, argument: string | undefined, { since, limit }: Span) => {
  const account_status = await accountNamed(operator, argument);
  const { account_id } = account_status;
  const query = { account_id, since, limit: Math.min(limit, MAX_REFERENCES) };
  const { answers, unavailable } = await askEach((service) =>
    operator.call(serviceContracts[service], 'listAccountRecords', query),
  );
  const entries = answers.flatMap(({ service, answer = [] }) => answer.map((each) => ({ service, ...each })));
  return { account_status, entries, unavailable, view: viewOf(entries, account_id) };
};

const section = (title: string, table: Table): string[] =>
  table.length === 1 ? [] : [`${title}\n${tableText(table)}`];

const sectionsText = ({ payments, sales, transfers, wallets, mails, events }: AccountView): string[] => {
  const holds = holdsOf(payments);
  return [
    ...section('Payments', paymentsTable(payments)),
    ...(holds.payments === 0
      ? []
      : [`Holds: ${displayUsdc(holds.amount)} for ${counted(holds.payments, 'open payment')}`]),
    ...section('Sales', paymentsTable(sales)),
    ...section('Deposits, withdrawals and refunds', transfersTable(transfers)),
    ...section('Wallets (USDC)', walletsTable(wallets)),
    ...section('Mails that wait', kindsTable(mails)),
    ...section('Security events, each with its mail', kindsTable(events)),
  ];
};

const codeOf = ({ unavailable }: { unavailable: readonly unknown[] }) => (unavailable.length === 0 ? 0 : 1);

export const accountRecordsCommands: readonly Command[] = [
  {
    name: 'accounts show',
    args: '<account>',
    summary: 'Shows what an account paid, sold, moved and was mailed, and what to tell the customer',
    details: [
      'The account is named by its e-mail address, its id, or any other text of `accounts find`. --limit is the number of',
      'records of each kind, at most 100 (default 50). Mails that were sent leave no record, except security events.',
    ].join('\n'),
    show: async (operator, [argument], span) => {
      const { view, ...found } = await readAccount(operator, argument, span);
      const conclusions = accountConclusions(view);
      return {
        json: { ...found, conclusions },
        text: [
          ...conclusions.map((text) => foldText(text)),
          accountStatusesOutput([found.account_status]).text,
          ...sectionsText(view),
          ...missingText(found.unavailable),
        ].join('\n\n'),
        code: codeOf(found),
      };
    },
  },
  {
    name: 'payments list',
    args: '',
    summary: 'Lists the payments of an account with their states, newest first: --account <account>',
    details: 'The account is named by its e-mail address, its id, or any other text of `accounts find`.',
    show: async (operator, _args, { account, ...span }) => {
      if (account === null)
        throw new Refusal('--account is missing: the e-mail address or id of the account');
      const { view, unavailable } = await readAccount(operator, account, span);
      const payments = view.payments.slice(0, span.limit);
      return {
        json: { payments, unavailable },
        text: [
          payments.length === 0 ? 'None.' : tableText(paymentsTable(payments)),
          ...missingText(unavailable),
        ].join('\n\n'),
        code: codeOf({ unavailable }),
      };
    },
  },
];
