import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { outboxColumn } from '../../../../shared/events/outbox.ts';
import { packedToken, withTokenHash } from '../../../../shared/lib/packed-token.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { allows, isConsumable, isUnreserved, state, windowElapsed } from './conditions.ts';
import { endColumns, redeemedEvents } from './end-events.ts';

/** The vendor's request to consume units, with its trace. */
export type ConsumeRequest = {
  settlement_id: string;
  service_id: string;
  settlement_token: string;
  request_id: string;
  units: number;
  traceparent: string | null;
};
const Consumed = z.object({
  settlement_id: z.string(),
  request_id: z.string(),
  units_total: z.number(),
  units_consumed: z.number(),
  issued_at: z.number(),
  redeemed_at: z.number(),
  // The event of the request that redeemed the settlement, if it is this one.
  events: outboxColumn,
});
type Consumed = z.infer<typeof Consumed>;

/** Identifies a request that consumes units. */
export const consumptionKey = ({
  settlement_id,
  request_id,
}: Pick<ConsumeRequest, 'settlement_id' | 'request_id'>): string => `${settlement_id} ${request_id}`;

/**
 * Adds to each request the sums over the requests of its settlement: `upto` are the units up to and
 * including this one, `in_all` those of all, and `requests` is their number.
 */
const placed = (requests: readonly ConsumeRequest[]) => {
  const sums = new Map<string, { units: number; requests: number }>();
  const found = requests.map((request) => {
    const sum = sums.get(request.settlement_id) ?? { units: 0, requests: 0 };
    sums.set(request.settlement_id, sum);
    sum.units += request.units;
    sum.requests += 1;
    return { request, upto: sum.units, sum };
  });
  return found.map(({ request, upto, sum }) => ({
    ...withTokenHash(request),
    upto,
    in_all: sum.units,
    requests: sum.requests,
  }));
};

/**
 * Of a settlement with several requests all are consumed or none. A repeat among them is none, and
 * a concurrent one violates the unique key, after which `batched` tries each alone.
 */
const OF_SEVERAL = {
  isNew: sql.fragment`and not exists (select from consumptions as earlier
    where earlier.settlement_id = s.settlement_id and earlier.request_id = input.request_id)`,
  isComplete: sql.fragment`where (select count(*) from prepaid as other where other.prepaid_id = prepaid.prepaid_id) = requests`,
  onConflict: sql.fragment``,
};
const OF_ONE = {
  isNew: sql.fragment``,
  isComplete: sql.fragment``,
  onConflict: sql.fragment`on conflict do nothing`,
};

const recordAtOnce = async (db: Db, requests: readonly ConsumeRequest[]): Promise<(Consumed | null)[]> => {
  const input = placed(requests);
  const ids = [...new Set(requests.map(({ settlement_id }) => settlement_id))];
  const { isNew, isComplete, onConflict } = ids.length < requests.length ? OF_SEVERAL : OF_ONE;
  const consumed = await db.any(sql.type(Consumed)`
    with prepaid as (
      select s.settlement_id as prepaid_id, status as was, (units_consumed + upto)::int as consumed,
        (units_consumed + in_all)::int as consumed_in_all, upto = units as is_first, requests,
        input.request_id, input.units, input.traceparent
      from jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        as input(settlement_id text, service_id uuid, token_hash bytea, request_id text, units int,
          traceparent text, upto bigint, in_all bigint, requests int)
      join settlements as s on s.settlement_id = input.settlement_id and s.service_id = input.service_id
        and s.settlement_token_hash = input.token_hash
      where s.settlement_id = any(${sql.array(ids, 'text')}) and ${allows('consume')}
        and (${state.is('issued')} and not ${windowElapsed} or ${state.is('redeemed')} and ${isConsumable})
        and ${isUnreserved} and units_consumed + in_all <= units_total ${isNew}
      order by s.settlement_id for update of s
    ), inserted as (
      insert into consumptions (settlement_id, request_id, units, units_consumed)
      select prepaid_id, request_id, units, consumed from prepaid ${isComplete}
      ${onConflict}
      returning settlement_id as inserted_id, request_id as inserted_request
    ), updated as (
      update settlements as s set units_consumed = consumed_in_all, status = ${state.after('consume')},
        redeemed_at = coalesce(redeemed_at, app_now())
      from inserted join prepaid on prepaid_id = inserted_id and request_id = inserted_request
      where s.settlement_id = inserted_id and is_first
      returning ${endColumns('s')}, units_total, issued_at, traceparent, was = 'issued' as redeems
    ), changed as (
      select * from updated where redeems
    ), published as (${redeemedEvents})
    select settlement_id, prepaid.request_id, units_total, consumed as units_consumed, issued_at, redeemed_at,
      case when redeems and is_first then
        (select jsonb_agg(to_jsonb(published)) from published where payload ->> 'settlement_id' = settlement_id)
      else '[]'::jsonb end as events
    from updated join prepaid on prepaid_id = settlement_id`);
  const found = new Map(consumed.map((row) => [consumptionKey(row), row]));
  return requests.map((request) => found.get(consumptionKey(request)) ?? null);
};

/**
 * Consumes the units of each request once, in one statement and one commit. The first request of a
 * settlement redeems it, and the event of that is inserted too. The settlement's row is locked
 * first: the remaining units are then those of its newest version, and the unique key contains
 * every earlier request. A concurrent refund, redeem or expiry waits, or has committed before.
 * Tokens are compared with the issued one (docs/adr/0033).
 *
 * Requests of one settlement that are not consumed together are tried alone, in their order: fewer
 * units may be left, or one of them may be a repeat or have another token.
 * @param requests with different ids of their settlements, which are locked in the order of theirs
 * @returns in their order: what is consumed then, or null where nothing was consumed (the caller
 * reads the reason)
 */
export const recordConsumptions = async (
  db: Db,
  requests: readonly ConsumeRequest[],
): Promise<(Consumed | null)[]> => {
  const consumed = await recordAtOnce(db, requests);
  const counts = new Map<string, number>();
  for (const { settlement_id } of requests) counts.set(settlement_id, (counts.get(settlement_id) ?? 0) + 1);
  for (const [index, request] of requests.entries())
    if (consumed[index] === null && counts.get(request.settlement_id)! > 1)
      [consumed[index] = null] = await recordAtOnce(db, [request]);
  return consumed;
};

const Consumable = z.object({
  settlement_token: packedToken.nullable(),
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  elapsed: z.boolean(),
  closed: z.boolean(),
  units_total: z.number().nullable(),
  units_consumed: z.number(),
  refund_reserved: z.bigint(),
  // Of this request, if it consumed units before.
  request_units: z.number().nullable(),
  request_consumed: z.number().nullable(),
});
export type ConsumableRow = z.infer<typeof Consumable>;

/**
 * The columns that decide about a consume, and what the request consumed before. Null: not this
 * service's.
 */
export const findConsumable = (
  db: Db,
  {
    settlement_id,
    service_id,
    request_id,
  }: Pick<ConsumeRequest, 'settlement_id' | 'service_id' | 'request_id'>,
): Promise<ConsumableRow | null> =>
  db.maybeOne(sql.type(Consumable)`
    select s.settlement_token, s.status, s.chain_status, coalesce(${windowElapsed}, false) as elapsed,
      s.redeemed_at is not null and not ${isConsumable} as closed, s.units_total, s.units_consumed, s.refund_reserved,
      earlier.units as request_units, earlier.units_consumed as request_consumed
    from settlements as s
    left join consumptions as earlier on earlier.settlement_id = s.settlement_id and earlier.request_id = ${request_id}
    where s.settlement_id = ${settlement_id} and s.service_id = ${service_id}`);
