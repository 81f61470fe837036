import type { RecordEntry } from '../../shared/contract/operator.ts';
import { isOutgoingRail } from '../../shared/contract/settlement/rail.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import type { Table } from './command.ts';
import { conclusionOf, minutesOf, reasonText } from './conclusion.ts';

/** What happened to one object of an account. */
type Item = { id: string; at: string; entries: readonly RecordEntry[] };

/** An account's objects by kind, the newest first. */
export type AccountView = {
  payments: Item[];
  sales: Item[];
  transfers: Item[];
  wallets: Item[];
  mails: Item[];
  events: Item[];
};

const KINDS: readonly [keyof AccountView, RegExp][] = [
  ['transfers', /^(refund|withdrawal|deposit|provider reported|reservation of the refund)/],
  ['wallets', /^wallet/],
  ['mails', /^mail waits/],
  ['events', /^security event/],
];

const kindOf = (
  { details, what }: RecordEntry,
  payers: ReadonlySet<unknown>,
): keyof AccountView | undefined => {
  if (/^(attempt accepted|payment declined)/.test(what))
    return payers.has(details.payer ?? details.payer_address) ? 'payments' : 'sales';
  if (what === 'approval requested') return 'payments';
  return KINDS.find(([, pattern]) => pattern.test(what))?.[0];
};

/**
 * Sorts the records of a customer by what they are about.
 * @param payers id of the account, and the addresses of wallets that also pay without it
 */
export const viewOf = (entries: readonly RecordEntry[], payers: ReadonlySet<unknown>): AccountView => {
  const view: AccountView = { payments: [], sales: [], transfers: [], wallets: [], mails: [], events: [] };
  for (const [id, own] of Map.groupBy(entries, ({ object_id }) => object_id)) {
    const inOrder = own.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const kind = own.map((each) => kindOf(each, payers)).find((each) => each !== undefined);
    if (kind !== undefined) view[kind].push({ id, at: inOrder[0]!.at, entries: inOrder });
  }
  for (const items of Object.values(view)) items.sort((a, b) => (a.at < b.at ? 1 : -1));
  return view;
};

/** `1 payment`, `2 payments`. */
export const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;

const detailOf = ({ entries }: Item, name: string) =>
  entries.map(({ details }) => details[name]).find((value) => value !== undefined);
const usdcOf = (value: ReturnType<typeof detailOf>): string =>
  value === undefined ? '' : displayUsdc(BigInt(String(value)));
const has = ({ entries }: Item, what: string): boolean => entries.some((each) => each.what === what);

/**
 * What a payment moved: of an authorization what was captured, of its ceiling. A refusal moves
 * nothing, and shows what was asked.
 */
const amountOf = (item: Item): string => {
  const asked = usdcOf(detailOf(item, 'amount'));
  const status = detailOf(item, 'status');
  const captured = item.entries.find(({ what }) => what === 'capture decided')?.details.amount;
  if (captured === undefined && status !== 'authorized' && status !== 'voided') return asked;
  const isPaid =
    captured !== undefined && has(item, 'settlement issued') && detailOf(item, 'chain_status') !== 'failed';
  return `${usdcOf(isPaid ? captured : 0).replace(' USDC', '')} of ${asked}`;
};

const STATES: Readonly<Record<string, string>> = {
  pending: 'open',
  issued: 'paid, not redeemed',
  expired: 'paid, not redeemed in time',
  failed: 'not paid',
  voided: 'ended without a payment',
};

/** The state of a payment in a few words. */
const stateOf = (item: Item): string => {
  if (has(item, 'payment declined')) return `refused: ${reasonText(detailOf(item, 'reason'))}`;
  if (has(item, 'approval requested'))
    return has(item, 'approval expires') ? 'waits for its approval' : (item.entries.at(-1)?.what ?? '');
  const status = String(detailOf(item, 'status'));
  // Of a payment that was confirmed, and that a fork removed for good.
  if (status !== 'failed' && detailOf(item, 'chain_status') === 'failed') return 'reversed, not paid';
  if (status === 'issued' && isOutgoingRail(String(detailOf(item, 'rail')))) return 'paid';
  return STATES[status] ?? status;
};

/** The name of a service, or the beginning of its id. `payment show` has the whole one. */
const serviceOf = (item: Item): string => {
  const [name, id] = [detailOf(item, 'service_name'), detailOf(item, 'service_id')];
  if (name !== undefined) return String(name).slice(0, 24);
  return id === undefined ? '' : `${String(id).slice(0, 8)}…`;
};

/** The payments of one direction as a table. */
export const paymentsTable = (items: readonly Item[]): Table => [
  ['at (UTC)', 'id', 'amount', 'service', 'state'],
  ...items.map((item) => [
    minutesOf(item.at).slice(0, 16),
    item.id,
    amountOf(item),
    serviceOf(item),
    stateOf(item),
  ]),
];

/** Refunds, withdrawals and deposits as a table. */
export const transfersTable = (items: readonly Item[]): Table => [
  ['at (UTC)', 'id', 'amount', 'state'],
  ...items.map((item) => [
    minutesOf(item.at).slice(0, 16),
    item.id,
    usdcOf(detailOf(item, 'amount') ?? detailOf(item, 'promised')),
    item.entries.at(-1)?.what ?? '',
  ]),
];

/** The wallets with what the chain held when it was last read. */
export const walletsTable = (items: readonly Item[]): Table => [
  ['wallet', 'address', 'balance', 'allowance', 'read (UTC)'],
  ...items.map((item) => {
    const seen = item.entries.find(({ what }) => what === 'wallet on chain');
    return [
      item.id,
      String(detailOf(item, 'owner')),
      usdcOf(seen?.details.balance).replace(' USDC', ''),
      `${usdcOf(seen?.details.allowance).replace(' USDC', '')}${seen?.details.delegation === 'active' ? '' : ` ${seen?.details.delegation ?? ''}`}`,
      seen === undefined ? 'never' : minutesOf(seen.at).slice(5, 16),
    ];
  }),
];

/** Mails that wait, or security events: when, and of which kind. */
export const kindsTable = (items: readonly Item[]): Table => [
  ['at (UTC)', 'kind'],
  ...items.map((item) => {
    const attempts = detailOf(item, 'attempts');
    const tried = attempts === undefined ? '' : ` (${counted(Number(attempts), 'attempt')})`;
    return [minutesOf(item.at).slice(0, 16), `${detailOf(item, 'kind')}${tried}`];
  }),
];

/** The payments whose money is held until they end, and the sum. */
export const holdsOf = (items: readonly Item[]): { payments: number; amount: bigint } => {
  const held = items.map((item) => detailOf(item, 'holds')).filter((value) => value !== undefined);
  return { payments: held.length, amount: held.reduce((sum, value) => sum + BigInt(String(value)), 0n) };
};

const MAX_CONCLUSIONS = 3;
const UNDELIVERED = new Set(['open', STATES.issued, STATES.expired, 'waits for its approval']);

const salesText = (sales: readonly Item[]): string[] => {
  const [newest, ...others] = sales.filter(
    (item) => UNDELIVERED.has(stateOf(item)) && stateOf(item) !== 'open',
  );
  if (newest === undefined) return [];
  const more = others.length === 0 ? '' : ` ${counted(others.length, 'more sale')} not delivered: see below.`;
  return [`As a vendor: ${conclusionOf(newest.entries)}${more}`];
};

/**
 * What to tell the customer: about the newest payment, and about those before it that were paid and
 * not delivered, or are open.
 */
export const accountConclusions = ({ payments, sales }: AccountView): string[] => {
  const concluded = payments.filter((item, index) => index === 0 || UNDELIVERED.has(stateOf(item)));
  const texts = concluded.slice(0, MAX_CONCLUSIONS).flatMap((item) => conclusionOf(item.entries) ?? []);
  const more = concluded.length - MAX_CONCLUSIONS;
  return [
    ...(payments.length === 0
      ? ['No payment in this time: nothing was asked of this account, and no money moved.']
      : []),
    ...texts,
    ...(more > 0 ? [`${counted(more, 'more payment')} open or not delivered: see below.`] : []),
    ...salesText(sales),
  ];
};
