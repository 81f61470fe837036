import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { outboxColumn } from '../../../../shared/events/outbox.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { allows, isConsumable, isUnreserved, state, windowElapsed } from './conditions.ts';
import { endColumns, redeemedEvents } from './end-events.ts';

/** A draw as its vendor asks for it, with the trace it belongs to. */
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
  // The event of the consume that redeemed.
  told: outboxColumn,
});

/**
 * Draws units once each, redeeming with a settlement's first draw, whose event is inserted too, in one statement and one commit. A
 * settlement's row is locked first, so what is left is its newest version and the unique key has seen every request before
 * this one; a refund, a redeem or the expiry job that races it waits, or was there before. Tokens are compared with the one
 * that was issued (docs/adr/0033).
 * @param draws of different settlements, which are locked in the order of their ids
 * @returns in their order: what is consumed then, or null where nothing was taken (the caller reads
 * why)
 */
export const recordConsumptions = async (
  db: Db,
  draws: readonly ConsumeRequest[],
): Promise<(z.infer<typeof Consumed> | null)[]> => {
  const ids = draws.map(({ settlement_id }) => settlement_id);
  const consumed = await db.any(sql.type(Consumed)`
    with prepaid as (
      select s.settlement_id as prepaid_id, status as was, units_consumed + given.units as consumed,
        given.request_id, given.units, given.traceparent
      from jsonb_to_recordset(${JSON.stringify(draws)}::jsonb)
        as given(settlement_id text, service_id uuid, settlement_token text, request_id text, units int,
          traceparent text)
      join settlements as s on s.settlement_id = given.settlement_id and s.service_id = given.service_id
        and s.settlement_token = given.settlement_token
      where s.settlement_id = any(${sql.array(ids, 'text')}) and ${allows('consume')}
        and (${state.is('issued')} and not ${windowElapsed} or ${state.is('redeemed')} and ${isConsumable})
        and ${isUnreserved} and units_consumed + given.units <= units_total
      order by s.settlement_id for update of s
    ), taken as (
      insert into consumptions (settlement_id, request_id, units, units_consumed)
      select prepaid_id, request_id, units, consumed from prepaid
      on conflict do nothing
      returning settlement_id as taken_id
    ), drawn as (
      update settlements as s
      set units_consumed = consumed, status = ${state.after('consume')}, redeemed_at = coalesce(redeemed_at, app_now())
      from taken join prepaid on prepaid_id = taken_id
      where s.settlement_id = taken_id
      returning ${endColumns('s')}, units_total, units_consumed, issued_at, traceparent, was = 'issued' as redeems
    ), changed as (
      select * from drawn where redeems
    ), told as (${redeemedEvents})
    select settlement_id, units_total, units_consumed, issued_at, redeemed_at,
      case when redeems then
        (select jsonb_agg(to_jsonb(told)) from told where payload ->> 'settlement_id' = settlement_id)
      else '[]'::jsonb end as told
    from drawn`);
  const found = new Map(consumed.map((row) => [row.settlement_id, row]));
  return draws.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};

const Consumable = z.object({
  settlement_token: z.string().nullable(),
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  elapsed: z.boolean(),
  closed: z.boolean(),
  units_total: z.number().nullable(),
  units_consumed: z.number(),
  refund_reserved: z.bigint(),
  // Of the request, when it took units before.
  known_units: z.number().nullable(),
  known_consumed: z.number().nullable(),
});

/** A service's settlement as consume judges it, with what the request took of it before; null: not this service's. */
export const findConsumable = (
  db: Db,
  { settlementId, serviceId, requestId }: { settlementId: string; serviceId: string; requestId: string },
): Promise<z.infer<typeof Consumable> | null> =>
  db.maybeOne(sql.type(Consumable)`
    select s.settlement_token, s.status, s.chain_status, coalesce(${windowElapsed}, false) as elapsed,
      s.redeemed_at is not null and not ${isConsumable} as closed, s.units_total, s.units_consumed, s.refund_reserved,
      known.units as known_units, known.units_consumed as known_consumed
    from settlements as s
    left join consumptions as known on known.settlement_id = s.settlement_id and known.request_id = ${requestId}
    where s.settlement_id = ${settlementId} and s.service_id = ${serviceId}`);
