import type { Output } from '../../../sdk/src/main.ts';

type Transaction = Output<'wallet.listTransactions'>['data'][number];
type Names = { service: (id: string) => string | null; delegate: (id: string) => string | null };

/**
 * Micro-units as exact USDC with all six decimals, for programs: no grouping, an ASCII minus, never
 * a float.
 */
export const exactDecimal = (micro: bigint): string => {
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0');
  return `${micro < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
};

/**
 * One cell of a CSV file (RFC 4180). A spreadsheet treats text that begins with one of these
 * characters as a formula, also after white space, and vendors choose names. Such text gets a
 * leading apostrophe (OWASP, CSV Injection).
 */
export const textCell = (text: string): string => {
  const safe = /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};

const COLUMNS: readonly (readonly [string, (row: Transaction, names: Names) => string])[] = [
  ['created_at', ({ created_at }) => created_at],
  ['transaction_id', ({ transaction_id }) => transaction_id],
  ['type', ({ type }) => type],
  ['direction', ({ direction }) => direction],
  ['status', ({ status }) => status],
  ['amount_micro', ({ amount }) => amount],
  ['amount_usdc', ({ amount }) => exactDecimal(BigInt(amount))],
  ['fee_micro', ({ fee_amount }) => fee_amount],
  ['fee_usdc', ({ fee_amount }) => exactDecimal(BigInt(fee_amount))],
  ['object_id', ({ object_id }) => object_id],
  ['service_id', ({ service_id }) => service_id ?? ''],
  ['service_name', ({ service_id }, names) => (service_id === null ? '' : (names.service(service_id) ?? ''))],
  ['delegate_id', ({ delegate_id }) => delegate_id ?? ''],
  [
    'delegate_name',
    ({ delegate_id }, names) => (delegate_id === null ? '' : (names.delegate(delegate_id) ?? '')),
  ],
  ['tx_hash', ({ tx_hash }) => tx_hash ?? ''],
];

/** The header line of the file, with its line end. */
export const csvHead = (): string => `${COLUMNS.map(([name]) => name).join(',')}\r\n`;

/**
 * A transaction as a line of the file, with its line end. Amounts have no sign; see `direction`.
 */
export const csvLine = (row: Transaction, names: Names): string =>
  `${COLUMNS.map(([, cell]) => textCell(cell(row, names))).join(',')}\r\n`;
