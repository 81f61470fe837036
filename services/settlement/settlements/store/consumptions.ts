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
  units_total: z.number(),
  units_consumed: z.number(),
  issued_at: z.number(),
  redeemed_at: z.number(),
  // The event of the request that redeemed the settlement, if it is this one.
  events: outboxColumn,
});
type Consumed = z.infer<typeof Consumed>;

/**
 * Consumes the units of each request once, in one statement and one commit. The first request of a
 * settlement redeems it, and the event of that is inserted too. The settlement's row is locked
 * first: the remaining units are then those of its newest version, and the unique key contains
 * every earlier request. A concurrent refund, redeem or expiry waits, or has committed before.
 * Tokens are compared with the issued one (docs/adr/0033).
 * @param requests of different settlements, which are locked in the order of their ids
 * @returns in their order: what is consumed then, or null where nothing was consumed (the caller
 * reads the reason)
 */
export const recordConsumptions = async (
  db: Db,
  requests: readonly ConsumeRequest[],
): Promise<(Consumed | null)[]> => {
  const ids = requests.map(({ settlement_id }) => settlement_id);
  const consumed = await db.any(sql.type(Consumed)`
    with prepaid as (
      select s.settlement_id as prepaid_id, status as was, units_consumed + input.units as consumed,
        input.request_id, input.units, input.traceparent
      from jsonb_to_recordset(${JSON.stringify(requests.map(withTokenHash))}::jsonb)
        as input(settlement_id text, service_id uuid, token_hash bytea, request_id text, units int, traceparent text)
      join settlements as s on s.settlement_id = input.settlement_id and s.service_id = input.service_id
        and s.settlement_token_hash = input.token_hash
      where s.settlement_id = any(${sql.array(ids, 'text')}) and ${allows('consume')}
        and (${state.is('issued')} and not ${windowElapsed} or ${state.is('redeemed')} and ${isConsumable})
        and ${isUnreserved} and units_consumed + input.units <= units_total
      order by s.settlement_id for update of s
    ), inserted as (
      insert into consumptions (settlement_id, request_id, units, units_consumed)
      select prepaid_id, request_id, units, consumed from prepaid
      on conflict do nothing
      returning settlement_id as inserted_id
    ), updated as (
      update settlements as s set units_consumed = consumed, status = ${state.after('consume')},
        redeemed_at = coalesce(redeemed_at, app_now())
      from inserted join prepaid on prepaid_id = inserted_id
      where s.settlement_id = inserted_id
      returning ${endColumns('s')}, units_total, units_consumed, issued_at, traceparent, was = 'issued' as redeems
    ), changed as (
      select * from updated where redeems
    ), published as (${redeemedEvents})
    select settlement_id, units_total, units_consumed, issued_at, redeemed_at,
      case when redeems then
        (select jsonb_agg(to_jsonb(published)) from published where payload ->> 'settlement_id' = settlement_id)
      else '[]'::jsonb end as events
    from updated`);
  const found = new Map(consumed.map((row) => [row.settlement_id, row]));
  return ids.map((id) => found.get(id) ?? null);
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
