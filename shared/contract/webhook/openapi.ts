import { z } from 'zod';
import type { Json } from '../examples.ts';
import type { Converter } from '../openapi-schemas.ts';
import { EventId, Timestamp } from '../primitives.ts';
import { EVENTS_TAG } from '../tags.ts';
import { MEANINGS } from './meanings.ts';
import type { EventType } from './operations.ts';
import { PAYLOADS } from './payloads.ts';

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
 * What every event has. Each type lists these fields in the document, because the reference page
 * shows the fields of an object at once only if the object extends no other.
 */
const eventOf = (type: string, data: z.ZodType) =>
  z.strictObject({
    id: EventId,
    type: z.literal(type).describe('What happened'),
    timestamp: Timestamp.describe('When it happened'),
    data: data.describe('The object of the event, as it was then'),
  });
/** `settlement.issued` as a part of a name: `SettlementIssued`. */
const pascal = (type: string): string =>
  type.replace(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/**
 * The `webhooks` of the API document: what a receiver gets, by the type of the event. Payloads may
 * gain fields.
 */
export const webhooksObject = ({ convert, example }: Converter): Record<string, Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(PAYLOADS).map(([type, data]) => {
      const body = eventOf(type, data).meta({ id: `WebhookEvent${pascal(type)}` });
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
