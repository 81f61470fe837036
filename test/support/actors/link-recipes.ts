import { newId } from '../../../shared/lib/id.ts';

/** What the page of a payment link keeps, and what its code has. */
export const SECRET = 'A'.repeat(43);

/**
 * Calls of the page of a payment link, for whoever has its address. The link of the tenant is
 * inactive, and its quote is of no link.
 */
export const OF_OPEN_LINKS = {
  'quote.openPaymentLink': { body: () => ({ environment: 'test' }), open: 409 },
  'quote.describePhonePayment': { open: 409 },
  'quote.requestPhonePayment': {
    body: () => ({ account: 'Vote111111111111111111111111111111111111111' }),
    open: 409,
  },
  'settlement.followPhonePayment': {
    body: () => ({ environment: 'test', payment_link_id: newId('pl'), secret: SECRET }),
    open: 200,
  },
  'settlement.payLink': {
    body: ({ quoteToken }: { quoteToken: string }) => ({
      environment: 'test',
      quote_token: quoteToken,
      secret: SECRET,
      transaction: 'AQ==',
    }),
    open: 400,
  },
};
