import type { z } from 'zod';
import type { PaymentLink } from '../../../shared/contract/quote.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Terms } from '../terms.ts';
import type { PaymentLinkRow } from './store.ts';

export type LinkAddress = Pick<Terms, 'publicUrl' | 'environment'>;

/** The page of a link. It names the environment, because the page has no credential that does. */
export const urlOf = (
  { publicUrl, environment }: LinkAddress,
  { payment_link_id }: Pick<PaymentLinkRow, 'payment_link_id'>,
): string => `${publicUrl}/pay/${environment}/${payment_link_id}`;

const statusOf = ({ deactivated_at, quote_id, payments }: PaymentLinkRow) => {
  if (quote_id !== null && payments > 0n) return 'paid';
  return deactivated_at === null ? 'active' : 'inactive';
};

/** A payment link as its vendor reads it. */
export const showPaymentLink = (at: LinkAddress, row: PaymentLinkRow): z.infer<typeof PaymentLink> => ({
  payment_link_id: row.payment_link_id,
  service_id: row.service_id,
  url: urlOf(at, row),
  title: row.title,
  quote_amount: formatMicro(row.quote_amount),
  single_use: row.quote_id !== null,
  success_url: row.success_url,
  status: statusOf(row),
  payments: Number(row.payments),
  created_at: isoTime(row.created_at),
  deactivated_at: isoTimeOrNull(row.deactivated_at),
});
