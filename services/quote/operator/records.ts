import { type Pool, sql } from '../../../shared/db/pool.ts';
import { entry, namesOf, type RecordFinder, textArray } from '../../../shared/operator/records.ts';
import { columns, type QuoteRow, Row } from '../quotes/store.ts';

const entriesOf = (row: QuoteRow) => [
  ...entry(row.created_at, row.quote_id, 'quote created', {
    vendor: row.account_id,
    service_id: row.service_id,
    amount: row.quote_amount,
    fee: row.fee_amount,
    redeem_window_seconds: row.redeem_window_seconds,
    settlement_id: row.settlement_id,
    settlement: row.settlement_state,
  }),
  ...entry(row.expires_at, row.quote_id, 'quote expires'),
];

/** The quotes with these ids, for an operator. */
export const findQuoteRecords =
  (pool: Pool): RecordFinder =>
  async ({ ids }) => {
    const rows = await pool.any(sql.type(Row)`
      select ${columns} from quotes where quote_id = any(${textArray(ids)})`);
    return {
      related: { ids: namesOf(rows.flatMap((row) => [row.quote_id, row.settlement_id])), attempts: [] },
      entries: rows.flatMap(entriesOf),
    };
  };
