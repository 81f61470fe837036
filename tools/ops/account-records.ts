import { type Inspection, MAX_REFERENCES, type RecordEntry } from '../../shared/contract/operator.ts';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
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
import { type Command, inspectionInput, type Table } from './command.ts';
import type { Operator } from './connect.ts';
import { serviceContracts } from './service-contracts.ts';
import { foldText, tableText } from './table.ts';

type Span = { since: string | null; limit: number; inspection: Inspection | null };

const noneFound = ({ environment }: Operator): Refusal =>
  new Refusal(
    `nothing in ${environment} has this id, address or key. Most buyers pay with a wallet and have no account: ask for the ` +
      'address of the wallet, or for the transaction (`payment show <signature>`). Or the customer uses another environment',
  );

/** What wallets paid without an account: by x402, MPP, or on the page of a payment link. */
const readWallets = async (operator: Operator, addresses: readonly string[], { since, inspection }: Span) => {
  if (addresses.length === 0) return [];
  const references = {
    ids: addresses.slice(0, MAX_REFERENCES),
    attempts: [],
    ...inspectionInput(inspection),
  };
  const { entries } = await operator.call(serviceContracts.settlement, 'findRecords', references);
  const accepted = (id: string) =>
    entries.find(({ object_id, what }) => object_id === id && what === 'attempt accepted')?.at;
  return entries.filter(({ object_id }) => (accepted(object_id) ?? '') >= (since ?? ''));
};

/** The addresses of the wallets of an account. */
const addressesOf = (entries: readonly RecordEntry[]): string[] =>
  entries.flatMap(({ what, details }) => (what === 'wallet' ? [String(details.owner)] : []));

/** The customer whom an argument names, with the records of all services. */
const readCustomer = async (operator: Operator, argument: string | undefined, span: Span) => {
  const account_status = await accountNamed(operator, argument, span.inspection);
  if (account_status === null) {
    const wallet = SolanaAddress.safeParse(argument).data;
    const entries = wallet === undefined ? [] : await readWallets(operator, [wallet], span);
    if (entries.length === 0) throw noneFound(operator);
    return { account_status, wallet, entries, unavailable: [], view: viewOf(entries, new Set([wallet])) };
  }
  const { account_id } = account_status;
  const query = {
    account_id,
    since: span.since,
    limit: Math.min(span.limit, MAX_REFERENCES),
    ...inspectionInput(span.inspection),
  };
  const { answers, unavailable } = await askEach((service) =>
    operator.call(serviceContracts[service], 'listAccountRecords', query),
  );
  const own = answers.flatMap(({ service, answer = [] }) => answer.map((each) => ({ service, ...each })));
  const addresses = addressesOf(own);
  const entries = unavailable.includes('settlement')
    ? own
    : [...own, ...(await readWallets(operator, addresses, span))];
  return { account_status, entries, unavailable, view: viewOf(entries, new Set([account_id, ...addresses])) };
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
    args: '<account|wallet>',
    summary: 'Shows what a customer paid, sold, moved and was mailed, and what to tell the customer',
    details: [
      'The account is named by its e-mail address, its id, or any other text of `accounts find`. The address of a wallet',
      'that has no account shows its newest payments. --limit is the number of records of each kind, at most 100',
      '(default 50). Mails that were sent leave no record, except security events.',
    ].join('\n'),
    inspects: true,
    show: async (operator, [argument], span) => {
      const { view, ...found } = await readCustomer(operator, argument, span);
      const conclusions = accountConclusions(view);
      return {
        json: { ...found, conclusions },
        text: [
          ...conclusions.map((text) => foldText(text)),
          found.account_status === null
            ? `The wallet ${argument} has no account in ${operator.environment}.`
            : accountStatusesOutput([found.account_status]).text,
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
    inspects: true,
    show: async (operator, _args, { account, ...span }) => {
      if (account === null)
        throw new Refusal('--account is missing: the e-mail address or id of the account');
      const { view, unavailable } = await readCustomer(operator, account, span);
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
