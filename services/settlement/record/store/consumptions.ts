import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { outboxColumn } from '../../../../shared/events/outbox.ts';
import { hasErrorCode } from '../../../../shared/lib/error-causes.ts';
import { packedToken, withTokenHash } from '../../../../shared/lib/tokens/packed-token.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { allows, hashesOf, isConsumable, isUnreserved, state, windowElapsed } from './conditions.ts';
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
  units_consumed: z.bigint(),
  issued_at: z.number(),
  redeemed_at: z.number(),
  // The event of the request that redeemed the settlement, if it is this one.
  events: outboxColumn,
});
type Consumed = z.infer<typeof Consumed>;

/** The guard of a request. */
const mayConsume = sql.fragment`${allows('consume')}
  and (${state.is('issued')} and not ${windowElapsed} or ${state.is('redeemed')} and ${isConsumable})
  and ${isUnreserved} and units_consumed + units <= units_total`;

const record = (db: Db, requests: readonly ConsumeRequest[]): Promise<readonly Consumed[]> => {
  // The ids are bound as an array too, see findForVerify.
  const ids = sql.array(
    requests.map(({ settlement_id }) => settlement_id),
    'text',
  );
  const input = requests.map(withTokenHash);
  return db.any(sql.type(Consumed)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        as input(settlement_id text, service_id uuid, token_hash bytea, request_id text, units bigint, traceparent text)
    ), locked as (
      select s.settlement_id as open_id, s.service_id, s.settlement_token_hash, status, chain_status, units_total,
        units_consumed, refund_reserved, redeemed_at, redeem_expires_at, forked_for
      from settlements as s where s.settlement_id = any(${ids}) and s.settlement_token_hash = any(${hashesOf(input)})
      order by s.settlement_id for update
    ), earlier as (
      select c.settlement_id, c.request_id from consumptions as c
      where c.settlement_id = any(${ids})
        and c.request_id = any(${sql.array(
          requests.map(({ request_id }) => request_id),
          'text',
        )})
    ), open as (
      select open_id, status as was, units_consumed as before, units, request_id, traceparent
      from input join locked on open_id = input.settlement_id and locked.service_id = input.service_id
        and settlement_token_hash = input.token_hash
      where ${mayConsume}
        and not exists (
          select from earlier
          where earlier.settlement_id = input.settlement_id and earlier.request_id = input.request_id)
    ), inserted as (
      insert into consumptions (settlement_id, request_id, units, units_consumed)
      select open_id, request_id, units, before + units from open
    ), updated as (
      update settlements as s set units_consumed = before + units, status = ${state.after('consume')},
        redeemed_at = coalesce(redeemed_at, app_now()), expires_from = null
      from open
      where s.settlement_id = any(${ids}) and s.settlement_id = open_id
      returning ${endColumns('s', ids)}, units_total, units_consumed, issued_at, traceparent, was = 'issued' as redeems
    ), changed as (
      select * from updated where redeems
    ), published as (${redeemedEvents})
    select settlement_id, units_total, units_consumed, issued_at, redeemed_at,
      case when redeems then
        (select jsonb_agg(to_jsonb(published)) from published where payload ->> 'settlement_id' = settlement_id)
      else '[]'::jsonb end as events
    from updated`);
};

/** A concurrent request of another replica has inserted the same id. */
const UNIQUE_VIOLATION = /^23505$/;

/**
 * Consumes the units of each request once, in one statement and one commit. The first consume of a
 * settlement redeems it, and the event of that is inserted too. The settlement's row is locked
 * first: what remains is then that of its newest version. A concurrent refund, redeem or expiry
 * waits, or has committed before. Tokens are compared with the issued one.
 *
 * A request that waited for the lock may have been inserted meanwhile, which the snapshot does not
 * show. The unique key refuses the statement then, and a new one sees it.
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
  units_total: z.number().nullable(),
  units_consumed: z.bigint(),
  refund_reserved: z.bigint(),
  /** What a request of this id has consumed, and the units of the settlement then. */
  earlier_units: z.bigint().nullable(),
  earlier_consumed: z.bigint().nullable(),
  /** Sums have replaced all its requests (use-sums.ts). */
  forgotten: z.boolean(),
});
export type ConsumableRow = z.infer<typeof Consumable>;

/** The columns that decide about a request. Null: not this service's. */
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
      c.units as earlier_units, c.units_consumed as earlier_consumed,
      exists (select from consumption_sums as f where f.settlement_id = s.settlement_id) as forgotten
    from settlements as s
    left join consumptions as c on c.settlement_id = s.settlement_id and c.request_id = ${request_id}
    where s.settlement_id = ${settlement_id} and s.service_id = ${service_id}`);
