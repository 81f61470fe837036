import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { hasErrorCode } from '../../../../shared/lib/error-causes.ts';
import { packedToken, withTokenHash } from '../../../../shared/lib/tokens/packed-token.ts';
import { statuses } from '../model/status.ts';
import { allows, hashesOf, isUsable, isUsableRow } from './conditions.ts';
import { microOf, picoOf } from './pico.ts';
import { withKinds } from './settlements.ts';

/** One use of an authorization: an amount, or units at its unit price. */
export type Use = {
  usage_id: string;
  amount?: string | undefined;
  units?: number | undefined;
  reason?: string | undefined;
};

/** The vendor's report of what was used of an authorization. */
export type UseRequest = {
  settlement_id: string;
  service_id: string;
  settlement_token: string;
  /** Each id once. */
  uses: readonly Use[];
};
const Used = z.object({ settlement_id: z.string(), ceiling: z.bigint(), used: z.bigint() });
type Used = z.infer<typeof Used>;

/** CTE `use`: each use with its picodollars, and those of an earlier use of the same id. */
const usesWithEarlier = sql.fragment`
  select input.settlement_id, ord, use.usage_id, use.reason, earlier.amount_pico as earlier,
    coalesce(${picoOf(sql.fragment`use.amount`)}, use.units * locked.unit_price_pico) as amount_pico
  from input
  cross join lateral rows from (jsonb_to_recordset(input.uses)
    as (usage_id text, amount numeric, units numeric, reason text)) with ordinality
    as use (usage_id, amount, units, reason, ord)
  join locked on locked.open_id = input.settlement_id
  left join earlier on earlier.settlement_id = input.settlement_id and earlier.usage_id = use.usage_id`;

/** CTE `wanted`: what each request uses besides what was used, without repeats. */
const wantedOf = sql.fragment`
  select settlement_id, sum(amount_pico) filter (where earlier is null) as wanted from use
  group by settlement_id
  having bool_and(amount_pico is not null) and not bool_or(earlier is not null and earlier <> amount_pico)`;

const record = (db: Db, requests: readonly UseRequest[]): Promise<readonly Used[]> => {
  // The ids are bound as an array too, see findForVerify.
  const ids = sql.array(
    requests.map(({ settlement_id }) => settlement_id),
    'text',
  );
  const usageIds = requests.flatMap(({ uses }) => uses.map(({ usage_id }) => usage_id));
  const input = requests.map(withTokenHash);
  return db.any(sql.type(Used)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        as input(settlement_id text, service_id uuid, token_hash bytea, uses jsonb)
    ), settled as materialized (
      select s.settlement_id, s.service_id, s.settlement_token_hash from settlements as s
      where s.settlement_id = any(${ids}) and s.settlement_token_hash = any(${hashesOf(input)}) and ${allows('use')}
    ), locked as (
      select a.settlement_id as open_id, a.used_pico, a.ceiling, a.unit_price_pico, a.due_at, a.sought_at, a.created_at
      from authorizations as a where a.settlement_id = any(${ids}) and a.settlement_id in (select settlement_id from settled)
      order by a.settlement_id for update
    ), earlier as (
      select u.settlement_id, u.usage_id, u.amount_pico from uses as u
      where u.settlement_id = any(${ids}) and u.usage_id = any(${sql.array(usageIds, 'text')})
    ), use as (${usesWithEarlier}), wanted as (${wantedOf}), open as (
      select a.open_id, a.used_pico as before, wanted
      from input join wanted using (settlement_id)
      join settled as s on s.settlement_id = input.settlement_id and s.service_id = input.service_id
        and s.settlement_token_hash = input.token_hash
      join locked as a on a.open_id = s.settlement_id
      where ${isUsableRow} and a.used_pico + wanted <= ${picoOf(sql.fragment`a.ceiling`)}
    ), inserted as (
      insert into uses (settlement_id, usage_id, amount_pico, used_after_pico, reason)
      select open_id, usage_id, amount_pico, before + sum(amount_pico) over (partition by open_id order by ord), reason
      from open join use on use.settlement_id = open_id where earlier is null
      returning settlement_id as inserted_id
    )
    update authorizations as a set used_pico = before + wanted,
      due_at = case when before + wanted >= ${picoOf(sql.fragment`a.threshold`)} then app_now() else a.due_at end
    from open
    where a.settlement_id = any(${ids}) and a.settlement_id = open_id and open_id in (select inserted_id from inserted)
    returning a.settlement_id, a.ceiling, ${microOf(sql.fragment`a.used_pico`)} as used`);
};

/** A concurrent request of another replica has inserted a use of the same id. */
const UNIQUE_VIOLATION = /^23505$/;

/**
 * Records the uses of each request once, in one statement and one commit: all of a request, or
 * none. Uses that were recorded before, with the same amount, count no second time. Only the
 * authorization is locked, which says whether it is open: a concurrent capture, void, extension or
 * close waits, or has committed before. Tokens are compared with the issued one.
 *
 * The uses of a request that waited for the lock may have been inserted meanwhile, which the
 * snapshot does not show. The unique key refuses the statement then, and a new one sees them.
 * @param requests of different authorizations, which are locked in the order of their ids
 * @returns in their order: what is used then, or null where nothing was recorded (the caller reads
 * the reason)
 */
export const recordUses = async (db: Db, requests: readonly UseRequest[]): Promise<(Used | null)[]> => {
  const used = await record(db, requests).catch((error: unknown) => {
    if (requests.length > 1 || !hasErrorCode(error, UNIQUE_VIOLATION)) throw error;
    return record(db, requests);
  });
  const found = new Map(used.map((row) => [row.settlement_id, row]));
  return requests.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};

const Usable = z.object({
  settlement_token: packedToken.nullable(),
  status: z.enum(statuses.states),
  usable: z.boolean(),
  // Null: not an authorization.
  ceiling: z.bigint().nullable(),
  used: z.bigint().nullable(),
  unit_price_pico: z.bigint().nullable(),
  at_risk_at: z.number().nullable(),
  /** The uses of these ids that were recorded before. */
  earlier: z.array(z.object({ usage_id: z.string(), amount_pico: z.string(), used_after_pico: z.string() })),
  /** Sums have replaced all its uses (use-sums.ts). */
  forgotten: z.boolean(),
});
export type UsableRow = z.infer<typeof Usable>;

/**
 * The columns that decide about a request, and what its ids used before. Null: not this service's.
 */
export const findUsable = (
  db: Db,
  { settlement_id, service_id, uses }: Pick<UseRequest, 'settlement_id' | 'service_id' | 'uses'>,
): Promise<UsableRow | null> =>
  db.maybeOne(sql.type(Usable)`
    select settlement_token, status, ${isUsable} as usable, ceiling, used, unit_price_pico, at_risk_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('usage_id', u.usage_id, 'amount_pico', u.amount_pico::text,
          'used_after_pico', u.used_after_pico::text))
        from uses as u
        where u.settlement_id = settlements.settlement_id and u.usage_id = any(${sql.array(
          uses.map(({ usage_id }) => usage_id),
          'text',
        )})
      ), '[]'::jsonb) as earlier,
      exists (select from use_sums as u where u.settlement_id = settlements.settlement_id) as forgotten
    from ${withKinds()}
    where settlement_id = ${settlement_id} and service_id = ${service_id}`);
