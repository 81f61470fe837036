import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { outboxColumn } from '../../../../shared/events/outbox.ts';
import { hasErrorCode } from '../../../../shared/lib/error-causes.ts';
import { packedToken, withTokenHash } from '../../../../shared/lib/tokens/packed-token.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { allows, isConsumable, isUnreserved, isUsable, state, windowElapsed } from './conditions.ts';
import { endColumns, redeemedEvents } from './end-events.ts';

/** One use of units, or of an amount of an authorization. */
export type Use = {
  request_id: string;
  /** Units of a prepaid settlement, or micro-units. */
  amount?: string | undefined;
  /** Units of an authorization, each at its unit price. */
  units?: number | undefined;
  reason?: string | undefined;
};

/**
 * The vendor's request to consume units (`consume`), or to report what was used of an authorization
 * (`use`), with its trace.
 */
export type ConsumeRequest = {
  event: 'consume' | 'use';
  settlement_id: string;
  service_id: string;
  settlement_token: string;
  /** Each id once. */
  uses: readonly Use[];
  traceparent: string | null;
};
const Consumed = z.object({
  settlement_id: z.string(),
  units_total: z.number().nullable(),
  max_amount: z.bigint().nullable(),
  units_consumed: z.bigint(),
  issued_at: z.number().nullable(),
  redeemed_at: z.number().nullable(),
  // The event of the request that redeemed the settlement, if it is this one.
  events: outboxColumn,
});
type Consumed = z.infer<typeof Consumed>;

/** CTE `use`: each use with its amount, and the amount of an earlier use of the same id. */
const usesWithEarlier = (ids: readonly string[]) => sql.fragment`
  select input.settlement_id, ord, use.request_id, use.reason, earlier.units as earlier,
    coalesce(use.amount, use.units * s.unit_price) as units
  from input
  cross join lateral rows from (jsonb_to_recordset(input.uses)
    as (request_id text, amount numeric, units numeric, reason text)) with ordinality
    as use (request_id, amount, units, reason, ord)
  -- The ids are bound as an array too, see findForVerify.
  join settlements as s on s.settlement_id = input.settlement_id and s.settlement_id = any(${sql.array([...ids], 'text')})
  left join lateral (
    select c.units from consumptions as c
    where c.settlement_id = input.settlement_id and c.request_id = use.request_id limit 1
  ) as earlier on true`;

/** CTE `wanted`: what each settlement is to consume besides what it has, without repeats. */
const wantedOf = sql.fragment`
  select settlement_id, sum(units) filter (where earlier is null) as wanted from use
  group by settlement_id
  having bool_and(units is not null) and not bool_or(earlier is not null and earlier <> units)`;

/** The guard of each kind of request. */
const mayConsume = sql.fragment`${allows('consume')}
  and (${state.is('issued')} and not ${windowElapsed} or ${state.is('redeemed')} and ${isConsumable})
  and ${isUnreserved} and units_consumed + wanted <= units_total`;
const mayUse = sql.fragment`${allows('use')} and ${isUsable} and units_consumed + wanted <= max_amount`;

const record = (db: Db, requests: readonly ConsumeRequest[]): Promise<readonly Consumed[]> => {
  const ids = requests.map(({ settlement_id }) => settlement_id);
  return db.any(sql.type(Consumed)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(requests.map(withTokenHash))}::jsonb)
        as input(event text, settlement_id text, service_id uuid, token_hash bytea, uses jsonb, traceparent text)
    ), use as (${usesWithEarlier(ids)}), wanted as (${wantedOf}), open as (
      select s.settlement_id as open_id, status as was, units_consumed as before, wanted, traceparent
      from input join wanted using (settlement_id)
      join settlements as s on s.settlement_id = input.settlement_id and s.service_id = input.service_id
        and s.settlement_token_hash = input.token_hash
      where s.settlement_id = any(${sql.array(ids, 'text')}) and case input.event when 'use' then ${mayUse} else ${mayConsume} end
      order by s.settlement_id for update of s
    ), inserted as (
      insert into consumptions (settlement_id, request_id, units, units_consumed, reason)
      select open_id, request_id, units, before + sum(units) over (partition by open_id order by ord), reason
      from open join use on use.settlement_id = open_id where earlier is null
      returning settlement_id as inserted_id
    ), updated as (
      update settlements as s set units_consumed = before + wanted,
        status = case when max_amount is null then ${state.after('consume')} else status end,
        redeemed_at = case when max_amount is null then coalesce(redeemed_at, app_now()) end,
        capture_due_at = case when before + wanted >= capture_threshold then app_now() else capture_due_at end
      from open
      where s.settlement_id = open_id and open_id in (select inserted_id from inserted)
      returning ${endColumns('s')}, units_total, max_amount, units_consumed, issued_at, traceparent,
        was = 'issued' as redeems
    ), changed as (
      select * from updated where redeems
    ), published as (${redeemedEvents})
    select settlement_id, units_total, max_amount, units_consumed, issued_at, redeemed_at,
      case when redeems then
        (select jsonb_agg(to_jsonb(published)) from published where payload ->> 'settlement_id' = settlement_id)
      else '[]'::jsonb end as events
    from updated`);
};

/** A concurrent request of another replica inserted a use of the same id. */
const UNIQUE_VIOLATION = /^23505$/;

/**
 * Consumes the units or the amounts of each request once, in one statement and one commit: all uses
 * of a request, or none. Uses that were recorded before, with the same amount, count no second
 * time. The first consume of a settlement redeems it, and the event of that is inserted too. The
 * settlement's row is locked first: what remains is then that of its newest version. A concurrent
 * refund, redeem, expiry, capture or void waits, or has committed before. Tokens are compared with
 * the issued one (docs/adr/0033).
 *
 * The uses of a request that waited for the lock may have been inserted meanwhile, which the
 * snapshot does not show. The unique key refuses the statement then, and a new one sees them.
 * @param requests of different settlements, which are locked in the order of their ids
 * @returns in their order: what is consumed then, or null where nothing was consumed (the caller
 * reads the reason)
 */
export const recordConsumptions = async (
  db: Db,
  requests: readonly ConsumeRequest[],
): Promise<(Consumed | null)[]> => {
  const consumed = await record(db, requests).catch((error: unknown) => {
    if (requests.length > 1 || !hasErrorCode(error, UNIQUE_VIOLATION)) throw error;
    return record(db, requests);
  });
  const found = new Map(consumed.map((row) => [row.settlement_id, row]));
  return requests.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};

const Consumable = z.object({
  settlement_token: packedToken.nullable(),
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  elapsed: z.boolean(),
  closed: z.boolean(),
  usable: z.boolean(),
  units_total: z.number().nullable(),
  max_amount: z.bigint().nullable(),
  units_consumed: z.bigint(),
  unit_price: z.bigint().nullable(),
  at_risk_at: z.number().nullable(),
  refund_reserved: z.bigint(),
  /** The uses of these ids that were recorded before. */
  earlier: z.array(z.object({ request_id: z.string(), units: z.string(), units_consumed: z.string() })),
});
export type ConsumableRow = z.infer<typeof Consumable>;

/**
 * The columns that decide about a request, and what its ids consumed before. Null: not this
 * service's.
 */
export const findConsumable = (
  db: Db,
  { settlement_id, service_id, uses }: Pick<ConsumeRequest, 'settlement_id' | 'service_id' | 'uses'>,
): Promise<ConsumableRow | null> =>
  db.maybeOne(sql.type(Consumable)`
    select s.settlement_token, s.status, s.chain_status, coalesce(${windowElapsed}, false) as elapsed,
      s.redeemed_at is not null and not ${isConsumable} as closed, ${isUsable} as usable, s.units_total, s.max_amount,
      s.units_consumed, s.unit_price, s.at_risk_at, s.refund_reserved,
      coalesce((
        select jsonb_agg(jsonb_build_object('request_id', request_id, 'units', units::text,
          'units_consumed', c.units_consumed::text))
        from consumptions as c
        where c.settlement_id = s.settlement_id and c.request_id = any(${sql.array(
          uses.map(({ request_id }) => request_id),
          'text',
        )})
      ), '[]'::jsonb) as earlier
    from settlements as s
    where s.settlement_id = ${settlement_id} and s.service_id = ${service_id}`);
