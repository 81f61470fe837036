import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { matching, type Page, pageBy } from '../../../shared/lists/page.ts';
import { isPaid, type QuoteScope } from '../quotes/store.ts';

const Row = z.object({
  payment_link_id: z.string(),
  account_id: z.string(),
  service_id: z.string(),
  title: z.string(),
  quote_amount: z.bigint(),
  /** Null: many payments. */
  quote_id: z.string().nullable(),
  success_url: z.string().nullable(),
  created_at: z.number(),
  deactivated_at: z.number().nullable(),
  payments: z.bigint(),
});
export type PaymentLinkRow = z.infer<typeof Row>;
type NewPaymentLink = Omit<PaymentLinkRow, 'payments' | 'deactivated_at'>;

const ownColumns = sql.fragment`payment_link_id, account_id, service_id, title, quote_amount, quote_id, success_url,
  created_at, deactivated_at`;
const columns = sql.fragment`${ownColumns},
  (select count(*) from quotes q where q.payment_link_id = payment_links.payment_link_id and ${isPaid}) as payments`;

const inScope = ({ account_id, service_id }: QuoteScope) =>
  sql.fragment`account_id = ${account_id} ${matching({ service_id: service_id ?? undefined })}`;

/** @returns the row as it is stored */
export const insertPaymentLink = (db: Db, link: NewPaymentLink): Promise<PaymentLinkRow> =>
  db.one(sql.type(Row)`
    insert into payment_links (payment_link_id, account_id, service_id, title, quote_amount, quote_id, success_url,
      created_at)
    values (${link.payment_link_id}, ${link.account_id}, ${link.service_id}, ${link.title}, ${link.quote_amount},
      ${link.quote_id}, ${link.success_url}, to_timestamp(${link.created_at} / 1000.0))
    returning ${columns}`);

/** A page of the links of a scope, newest first, and one more. */
export const listPaymentLinkRows = (
  db: Db,
  scope: QuoteScope,
  page: Page,
): Promise<readonly PaymentLinkRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from payment_links where ${inScope(scope)} ${pageBy('payment_link_id', page)}`);

/** A link of the scope, or null. */
export const findPaymentLink = (
  db: Db,
  scope: QuoteScope,
  paymentLinkId: string,
): Promise<PaymentLinkRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from payment_links where payment_link_id = ${paymentLinkId} and ${inScope(scope)}`);

const Opened = Row.omit({ payments: true }).extend({
  /** Of a link for one payment. */
  is_paid: z.boolean(),
});
export type OpenedLink = z.infer<typeof Opened>;

/**
 * A link for whoever has its address, or null. Anybody can ask at any rate, so the payments of a
 * link for many are not counted.
 */
export const findOpenedLink = (db: Db, paymentLinkId: string): Promise<OpenedLink | null> =>
  db.maybeOne(sql.type(Opened)`
    select ${ownColumns}, case when quote_id is null then false
        else exists (select from quotes q where q.quote_id = payment_links.quote_id and ${isPaid}) end as is_paid
    from payment_links where payment_link_id = ${paymentLinkId}`);

/** The links with these ids, of any account. */
export const listLinks = (db: Db, ids: readonly string[]): Promise<readonly PaymentLinkRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from payment_links where payment_link_id = any(${sql.array([...ids], 'text')})`);

const Paid = z.object({ quote_id: z.string() });

/** The ids of the newest paid quotes of a link. */
export const listPaidQuotes = async (db: Db, paymentLinkId: string, limit: number): Promise<string[]> => {
  const rows = await db.any(sql.type(Paid)`
    select quote_id from quotes where payment_link_id = ${paymentLinkId} and ${isPaid}
    order by quote_id desc limit ${limit}`);
  return rows.map(({ quote_id }) => quote_id);
};

/** Deactivates a link of the scope, once. Null: the scope has no such link. */
export const recordDeactivation = (
  db: Db,
  scope: QuoteScope,
  paymentLinkId: string,
): Promise<PaymentLinkRow | null> =>
  db.maybeOne(sql.type(Row)`
    update payment_links set deactivated_at = coalesce(deactivated_at, app_now())
    where payment_link_id = ${paymentLinkId} and ${inScope(scope)}
    returning ${columns}`);
