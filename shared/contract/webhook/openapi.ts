import { z } from 'zod';
import type { Json } from '../examples.ts';
import { EventId, Timestamp } from '../primitives.ts';
import { EVENTS_TAG } from '../tags.ts';
import type { EventType } from './operations.ts';
import { PAYLOADS } from './payloads.ts';

const MEANINGS: Record<EventType, string> = {
  'quote.settling': 'A payment of the quote is under way',
  'quote.settled': 'The quote is paid',
  'quote.expired': 'The quote was not paid in time',
  'settlement.issued': 'The payment is confirmed on chain, and the settlement can be redeemed',
  'settlement.finalized': 'The payment is final: no fork of the chain can undo it any more',
  'settlement.redeemed': 'The vendor has redeemed the settlement',
  'settlement.expired': 'The settlement was paid, and not redeemed in time',
  'settlement.failed': 'The payment failed. No money moved',
  'settlement.reversed': 'A fork of the chain has undone the payment, finally',
  'settlement.declined': 'A payment was refused before anything was reserved',
  'refund.submitted': 'The refund is signed and sent to the chain',
  'refund.confirmed': 'The refund is confirmed on chain',
  'refund.finalized': 'The refund is final',
  'refund.failed': 'The refund failed. No money moved',
  'refund.cancelled': 'The refund was cancelled before it was signed',
  'refund.expired': 'The refund was not signed in time',
  'withdrawal.submitted': 'The withdrawal is signed and sent to the chain',
  'withdrawal.confirmed': 'The withdrawal is confirmed on chain',
  'withdrawal.finalized': 'The withdrawal is final',
  'withdrawal.failed': 'The withdrawal failed. No money moved',
  'withdrawal.cancelled': 'The withdrawal was cancelled before it was signed',
  'withdrawal.expired': 'The withdrawal was not signed in time',
  'deposit.awaiting_payment': 'The provider waits for the payment of the customer',
  'deposit.processing': 'The provider processes the payment of the customer',
  'deposit.settling': 'The provider reports that it has sent the USDC',
  'deposit.completed': 'The USDC has arrived, finally',
  'deposit.failed': 'The deposit failed',
  'deposit.cancelled': 'The deposit was cancelled',
  'deposit.expired': 'The deposit was not paid in time',
  'delegate.created': 'A delegate was created',
  'delegate.updated': 'A delegate was changed',
  'delegate.deleted': 'A delegate was deleted, and its keys are revoked',
  'delegate.exhausted': 'A limit of a delegate leaves less than it wants to pay',
  'approval.requested': 'A payment of a delegate waits for its owner',
  'approval.decided': 'The owner has approved or denied a payment of a delegate',
  'key.rotated': 'A key was replaced by a rotation',
  'key.revealed': 'A key was replaced by a mailed link',
  'key.ended': 'A key was revoked',
  'webhook.test': 'The owner has asked for a test event',
};

type Converter = {
  convert: (schema: z.ZodType, options: { open: boolean }) => Json;
  example: (schema: Json, place: string) => unknown;
};

const HEADERS: Record<string, string> = {
  'webhook-id': 'The id of the event. A repeat has the same id',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970',
  'webhook-signature': 'Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces',
};
const parameters = Object.entries(HEADERS).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));

/**
 * The `webhooks` of the API document: what a receiver gets, by the type of the event. Payloads may
 * gain fields.
 */
export const webhooksObject = ({ convert, example }: Converter): Json =>
  Object.fromEntries(
    Object.entries(PAYLOADS).map(([type, data]) => {
      const body = z.strictObject({
        id: EventId,
        type: z.literal(type).describe('What happened'),
        timestamp: Timestamp.describe('When it happened'),
        data: data.describe('The object of the event, as it was then'),
      });
      const schema = convert(body, { open: true });
      const content = { 'application/json': { schema, example: example(schema, `webhook ${type}`) } };
      const operation = {
        tags: [EVENTS_TAG],
        summary: type,
        description: MEANINGS[type as EventType],
        parameters,
        requestBody: { required: true, content },
        responses: { '2XX': { description: 'The event is accepted. Any other answer is a failed attempt' } },
      };
      return [type, { post: operation }];
    }),
  );
