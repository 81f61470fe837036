import { z } from 'zod';
import type { RecordEntry } from '../../../shared/contract/operator.ts';
import { type Pool, sql } from '../../../shared/db/pool.ts';
import { entry, namesOf, type RecordFinder, textArray } from '../../../shared/operator/records.ts';

const EventRecord = z.object({
  event_id: z.string(),
  account_id: z.string(),
  type: z.string(),
  object_id: z.string(),
  data: z.record(z.string(), z.json()),
  created_at: z.number(),
});
type EventRecord = z.infer<typeof EventRecord>;

const DeliveryRecord = z.object({
  event_id: z.string(),
  type: z.string(),
  endpoint_id: z.string(),
  status: z.string(),
  tries: z.number(),
  attempts: z.array(
    z.object({
      at: z.string(),
      status_code: z.number().nullable(),
      error: z.string().nullable(),
      duration_ms: z.number(),
    }),
  ),
  next_attempt_at: z.number().nullable(),
  created_at: z.number(),
});
type DeliveryRecord = z.infer<typeof DeliveryRecord>;

/** An event is of the payment, not of an endpoint or a delegate, which have many payments. */
const RELATED = ['settlement_id', 'quote_id', 'refund_id', 'approval_id'] as const;

const relatedOf = ({ event_id, object_id, data }: EventRecord): string[] => [
  event_id,
  object_id,
  ...RELATED.flatMap((name) => (typeof data[name] === 'string' ? [data[name]] : [])),
];

const entriesOfDelivery = (row: DeliveryRecord): RecordEntry[] => [
  ...row.attempts.flatMap(({ at, status_code, error, duration_ms }) =>
    entry(Date.parse(at), row.event_id, 'webhook sent', {
      type: row.type,
      endpoint_id: row.endpoint_id,
      status_code,
      error,
      ms: duration_ms,
    }),
  ),
  ...entry(row.next_attempt_at, row.event_id, 'webhook is due', {
    type: row.type,
    endpoint_id: row.endpoint_id,
    tries: row.tries,
  }),
];

/** The events of accounts about these objects, and their deliveries, for an operator. */
export const findEventRecords =
  (pool: Pool): RecordFinder =>
  async ({ ids }) => {
    const events = await pool.any(sql.type(EventRecord)`
      select event_id, party.account_id, type, object_id, data || party.own as data, created_at from events
      cross join lateral (values (events.account_id, events.own), (other_account_id, other_own)) as party(account_id, own)
      where (event_id = any(${textArray(ids)}) or object_id = any(${textArray(ids)})) and party.account_id is not null
      order by event_id, party.account_id limit 500`);
    const deliveries = await pool.any(sql.type(DeliveryRecord)`
      select d.event_id, e.type, d.endpoint_id, d.status, d.tries, d.attempts, d.next_attempt_at, d.created_at
      from deliveries d join events e using (event_id)
      where d.event_id = any(${textArray(events.map(({ event_id }) => event_id))})
      order by d.event_id limit 500`);
    return {
      related: { ids: namesOf(events.flatMap(relatedOf)), attempts: [] },
      entries: [
        ...events.flatMap(({ event_id, account_id, type, object_id, data, created_at }) =>
          entry(created_at, event_id, 'event recorded', {
            type,
            account_id,
            about: object_id,
            role: typeof data.role === 'string' ? data.role : null,
          }),
        ),
        ...deliveries.flatMap(entriesOfDelivery),
      ],
    };
  };
