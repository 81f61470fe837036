import { z } from 'zod';
import { outboxColumn } from '../../../shared/db/outbox.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { tellEnd, toldOfEnd } from './ends.ts';
import { unreserved } from './refund_reservations.ts';

/** After this the vendor is done with a prepaid settlement (decisions.md, Redeem). */
export const drawable = sql.fragment`redeemed_at > app_now() - interval '30 days'`;

const Consumed = z.object({
  units_total: z.number(),
  units_consumed: z.number(),
  issued_at: z.number(),
  redeemed_at: z.number(),
  // Whether this was the consume that redeemed.
  redeems: z.boolean(),
  outbox: outboxColumn,
});

/**
 * Draws units once, redeeming, and telling it, with the first: what is consumed then, or null when nothing was taken (the caller reads
 * why). The settlement's row is locked first, so what is left is its newest version and the unique key has seen every
 * request before this one; a refund, a redeem or the expiry job that races it waits, or was there before.
 */
export const consumeOnce = (
  db: Db,
  {
    settlementId,
    serviceId,
    requestId,
    units,
  }: { settlementId: string; serviceId: string; requestId: string; units: number },
): Promise<z.infer<typeof Consumed> | null> =>
  db.maybeOne(sql.type(Consumed)`
    with prepaid as (
      select settlement_id as prepaid_id, status as was, units_consumed + ${units}::int as consumed
      from settlements
      where settlement_id = ${settlementId} and service_id = ${serviceId}
        and chain_status in ('confirmed', 'finalized')
        and (status = 'issued' and redeem_expires_at > app_now() or status = 'redeemed' and ${drawable})
        and ${unreserved} and units_consumed + ${units}::int <= units_total
      for update
    ), taken as (
      insert into consumptions (settlement_id, request_id, units, units_consumed)
      select prepaid_id, ${requestId}, ${units}::int, consumed from prepaid
      on conflict do nothing
      returning settlement_id as taken_id
    ), drawn as (
      update settlements
      set units_consumed = prepaid.consumed, status = 'redeemed', redeemed_at = coalesce(redeemed_at, app_now())
      from taken, prepaid
      where settlement_id = taken_id
      returning ${toldOfEnd}, units_total, units_consumed, issued_at, prepaid.was = 'issued' as redeems
    ), changed as (
      select ${toldOfEnd} from drawn where redeems
    ), told as (${tellEnd('redeemed')})
    select units_total, units_consumed, issued_at, redeemed_at, redeems,
      coalesce((select jsonb_agg(to_jsonb(told)) from told), '[]'::jsonb) as outbox
    from drawn`);

const Consumable = z.object({
  status: z.enum(['pending', 'issued', 'redeemed', 'expired', 'failed']),
  chain_status: z.enum(['pending', 'confirmed', 'finalized', 'failed']),
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
    select s.status, s.chain_status, coalesce(s.redeem_expires_at <= app_now(), false) as elapsed,
      s.redeemed_at is not null and not ${drawable} as closed, s.units_total, s.units_consumed, s.refund_reserved,
      known.units as known_units, known.units_consumed as known_consumed
    from settlements as s
    left join consumptions as known on known.settlement_id = s.settlement_id and known.request_id = ${requestId}
    where s.settlement_id = ${settlementId} and s.service_id = ${serviceId}`);
