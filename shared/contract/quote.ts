import { events } from './quote/events.ts';
import { internal } from './quote/internal.ts';
import { operations } from './quote/operations.ts';
import { service } from './service.ts';

export { Activity } from './quote/internal.ts';
export { QuoteRecord, Scope } from './quote/operations.ts';
export { LINK_KEY, LinkScope, PaymentLink } from './quote/payment-links.ts';

export const quote = service({
  name: 'quote',
  operations,
  internal,
  events,
  jobs: {},
  consumes: [
    'settlement.accepted',
    'settlement.authorized',
    'settlement.extended',
    'settlement.issued',
    'settlement.voided',
    'settlement.failed',
  ],
});
