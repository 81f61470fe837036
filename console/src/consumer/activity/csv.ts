import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../../sdk/src/main.ts';
import { csvRow } from '../../lib/csv.ts';

type Transaction = Output<'wallet.listTransactions'>['data'][number];
type Names = { service: (id: string) => string | null; delegate: (id: string) => string | null };

const COLUMNS: readonly (readonly [string, (row: Transaction, names: Names) => string])[] = [
  ['created_at', ({ created_at }) => created_at],
  ['transaction_id', ({ transaction_id }) => transaction_id],
  ['type', ({ type }) => type],
  ['direction', ({ direction }) => direction],
  ['status', ({ status }) => status],
  ['amount_micro', ({ amount }) => amount],
  ['amount_usdc', ({ amount }) => plainUsdc(amount)],
  ['fee_micro', ({ fee_amount }) => fee_amount],
  ['fee_usdc', ({ fee_amount }) => plainUsdc(fee_amount)],
  ['object_id', ({ object_id }) => object_id],
  ['service_id', ({ service_id }) => service_id ?? ''],
  ['service_name', ({ service_id }, names) => (service_id === null ? '' : (names.service(service_id) ?? ''))],
  ['item', ({ item }) => item ?? ''],
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
  csvRow(COLUMNS.map(([, cell]) => cell(row, names)));
