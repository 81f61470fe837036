import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { outboxRow } from '../../../../shared/events/outbox.ts';
import { chainState, isRedeemable, state, windowElapsed } from './conditions.ts';
import { endColumns, redeemedEvents } from './end-events.ts';

/** A redeem as its vendor asks for it, with the trace it belongs to. */
export type RedeemRequest = {
  settlement_id: string;
  service_id: string;
  settlement_token: string;
  redeem_id: string | null;
  traceparent: string | null;
};
const Redeemed = outboxRow.extend({
  settlement_id: z.string(),
  issued_at: z.number(),
  redeemed_at: z.number(),
});

/**
 * Redeems each once, in one statement and one commit. The window is judged by the same statement,
 * so a redeem that races the expiry job has one winner; so has one that races a refund. A token is
 * compared with the one that was issued (docs/adr/0033). Settlements are locked in the order of
 * their ids, which are given as an array too (see findVerified).
 * @param redeems of different settlements
 * @returns in their order: when it was issued and redeemed, with the row of the outbox of its
 * event; null where it could not be redeemed (the caller reads why)
 */
export const recordRedeems = async (
  db: Db,
  redeems: readonly RedeemRequest[],
): Promise<(z.infer<typeof Redeemed> | null)[]> => {
  const ids = redeems.map(({ settlement_id }) => settlement_id);
  const redeemed = await db.any(sql.type(Redeemed)`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(redeems)}::jsonb)
        as given(settlement_id text, service_id uuid, settlement_token text, redeem_id text, traceparent text)
      order by settlement_id
    ), changed as (
      update settlements as s set status = ${state.after('redeem')}, redeemed_at = app_now(), redeem_id = given.redeem_id
      from given
      where s.settlement_id = any(${sql.array(ids, 'text')})
        and s.settlement_id = given.settlement_id
        -- Within coalesce no index can serve them: a plan that was made over few rows would go on reading all open ones.
        and coalesce(s.service_id = given.service_id and s.settlement_token = given.settlement_token
          and ${state.isFrom('redeem')} and ${chainState.isFrom('redeem')} and not ${windowElapsed} and ${isRedeemable},
          false)
      returning ${endColumns('s')}, issued_at, traceparent
    ), told as (${redeemedEvents})
    select settlement_id, issued_at, redeemed_at, told.*
    from changed join told on told.payload ->> 'settlement_id' = settlement_id`);
  const found = new Map(redeemed.map((row) => [row.settlement_id, row]));
  return redeems.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};
