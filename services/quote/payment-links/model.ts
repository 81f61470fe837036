import { LINK_KEY } from '../../../shared/contract/quote.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { displayUsdc } from '../../../shared/lib/money/usdc.ts';

type Link = {
  payment_link_id: string;
  title: string;
  success_url: string | null;
  /** Of a link for one payment. */
  quote_id: string | null;
};
type Payment = { url: string; serviceName: string; amountMicro: bigint; quoteId: string };

/** For so many bytes the memo program takes at most 27,000 of the 60,000 units of the page. */
export const LONGEST_MEMO_BYTES = 76;

/** The characters of a text that fit into so many bytes. */
const cut = (text: string, bytes: number): string => {
  let fitting = '';
  for (const character of text) {
    if (Buffer.byteLength(fitting + character) > bytes) break;
    fitting += character;
  }
  return fitting;
};

/**
 * The memo of a wallet's payment. A wallet displays it, so it names vendor, amount and quote. It
 * does not name what is sold, because everybody can read it on the chain.
 */
export const memoOf = ({ serviceName, amountMicro, quoteId }: Omit<Payment, 'url'>): string => {
  const [price, end] = [`${displayUsdc(amountMicro)} to `, ` (${quoteId})`];
  return `${price}${cut(serviceName, LONGEST_MEMO_BYTES - Buffer.byteLength(price + end))}${end}`;
};

/** What the quote of a link signs beside its amount. */
export const scopeOfLink = (link: Link, payment: Payment): NonNullable<QuoteClaims['scope']> => ({
  resource: payment.url,
  [LINK_KEY]: {
    payment_link_id: link.payment_link_id,
    title: link.title,
    success_url: link.success_url,
    single_use: link.quote_id !== null,
    memo: memoOf(payment),
  },
});
