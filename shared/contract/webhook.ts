import { z } from 'zod';
import { operatorOperations } from './operator.ts';
import { AccountId, Timestamp } from './primitives.ts';
import { listSentEvents } from './sent-events.ts';
import { operatorOperation, service } from './service.ts';
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
  internal: {
    ...operatorOperations,
    listLateEndpoints: operatorOperation({
      summary: 'The endpoints that fail, the longest first, and those with most deliveries that are due',
      input: z.strictObject({ limit: z.int().min(1).max(200) }),
      output: z.array(
        z.strictObject({
          endpoint_id: z.string(),
          account_id: AccountId,
          host: z.string(),
          /** Null: its last attempt was delivered. */
          failing_since: Timestamp.nullable(),
          disabled_reason: z.string().nullable(),
          /** Deliveries that are due, counted up to 10,000. */
          due: z.int().min(0),
          oldest_due_at: Timestamp.nullable(),
        }),
      ),
    }),
    listSentEvents: listSentEvents(['identity']),
  },
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
