import { operatorOperations } from './operator.ts';
import { listSentEvents } from './sent-events.ts';
import { service } from './service.ts';
import { events } from './webhook/events.ts';
import { operations } from './webhook/operations.ts';

export type { Attempt } from './webhook/operations.ts';
export {
  DELIVERY_ERRORS,
  Delivery,
  DeliveryError,
  Endpoint,
  Event,
  EventType,
  MAX_ENDPOINTS,
  MAX_REDELIVERED,
} from './webhook/operations.ts';

export const webhook = service({
  name: 'webhook',
  operations,
  internal: { ...operatorOperations, listSentEvents: listSentEvents(['identity']) },
  events,
  jobs: {},
  consumes: [
    'quote.expired',
    'quote.linkPaid',
    'settlement.accepted',
    'settlement.authorized',
    'settlement.extended',
    'settlement.atRisk',
    'settlement.captured',
    'settlement.voided',
    'settlement.issued',
    'settlement.finalized',
    'settlement.failed',
    'settlement.reversed',
    'settlement.redeemed',
    'settlement.expired',
    'settlement.approvalRequested',
    'settlement.approvalDecided',
    'settlement.declined',
    'settlement.delegateExhausted',
    'funding.withdrawalChanged',
    'funding.refundChanged',
    'funding.depositChanged',
    'identity.delegateChanged',
    'identity.keyChanged',
    'identity.accountClosed',
    'identity.accountErased',
  ],
});
