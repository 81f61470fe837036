import { type Pool, sql } from '../../../shared/db/pool.ts';
import { entry, namesOf, type RecordFinder, textArray } from '../../../shared/operator/records.ts';
import { listLinks, listPaidQuotes, type PaymentLinkRow } from '../payment-links/store.ts';
import { columns, type QuoteRow, Row } from '../quotes/store.ts';

/** The newest payments of a link that are followed. It can have any number of them. */
const FOLLOWED = 20;

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

const entriesOfLink = (link: PaymentLinkRow) => [
  ...entry(link.created_at, link.payment_link_id, 'payment link created', {
    vendor: link.account_id,
    service_id: link.service_id,
    amount: link.quote_amount,
    title: link.title,
    single_use: link.quote_id !== null,
    payments: Number(link.payments),
  }),
  ...entry(link.deactivated_at, link.payment_link_id, 'payment link deactivated'),
];

/**
 * The quotes and payment links with these ids, for an operator. A link leads to its newest
 * payments. A payment does not lead to its link, and so not to other buyers.
 */
export const findQuoteRecords =
  (pool: Pool): RecordFinder =>
  async ({ ids }) => {
    const [rows, links] = await Promise.all([
      pool.any(sql.type(Row)`select ${columns} from quotes where quote_id = any(${textArray(ids)})`),
      listLinks(pool, ids),
    ]);
    const paid = await Promise.all(
      links.map(({ payment_link_id }) => listPaidQuotes(pool, payment_link_id, FOLLOWED)),
    );
    const names = [...rows.flatMap((row) => [row.quote_id, row.settlement_id]), ...paid.flat()];
    return {
      related: { ids: namesOf(names), attempts: [] },
      entries: [...links.flatMap(entriesOfLink), ...rows.flatMap(entriesOf)],
    };
  };
