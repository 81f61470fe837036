import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { outboxRow } from '../../../../shared/events/outbox.ts';
import { withTokenHash } from '../../../../shared/lib/tokens/packed-token.ts';
import { chainState, isRedeemable, state, windowElapsed } from './conditions.ts';
import { endColumns, redeemedEvents } from './end-events.ts';

/** The vendor's request to redeem, with its trace. */
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
 * Redeems each settlement once, in one statement and one commit. The same statement evaluates the
 * window and the refunds, so a concurrent expiry job or refund cannot succeed as well. Tokens are
 * compared with the issued one. Settlements are locked in the order of their ids,
 * which are bound as an array too (see `findForVerify`).
 * @param requests of different settlements
 * @returns in their order: when the settlement was issued and redeemed, with the outbox row of its
 * event; null where it could not be redeemed (the caller reads the reason)
 */
export const recordRedeems = async (
  db: Db,
  requests: readonly RedeemRequest[],
): Promise<(z.infer<typeof Redeemed> | null)[]> => {
  const ids = sql.array(
    requests.map(({ settlement_id }) => settlement_id),
    'text',
  );
  const input = requests.map(withTokenHash);
  const redeemed = await db.any(sql.type(Redeemed)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        as input(settlement_id text, service_id uuid, token_hash bytea, redeem_id text, traceparent text)
      order by settlement_id
    ), changed as (
      update settlements as s set status = ${state.after('redeem')}, redeemed_at = app_now(), redeem_id = input.redeem_id,
        expires_from = null
      from input
      where s.settlement_id = any(${ids})
        and s.settlement_id = input.settlement_id
        -- No index serves a condition within coalesce. Without it, a plan made over few rows kept
        -- scanning all open settlements.
        and coalesce(s.service_id = input.service_id and s.settlement_token_hash = input.token_hash
          and ${state.isFrom('redeem')} and ${chainState.isFrom('redeem')} and not ${windowElapsed} and ${isRedeemable},
          false)
      returning ${endColumns('s', ids)}, issued_at, traceparent
    ), published as (${redeemedEvents})
    select settlement_id, issued_at, redeemed_at, published.*
    from changed join published on published.payload ->> 'settlement_id' = settlement_id`);
  const found = new Map(redeemed.map((row) => [row.settlement_id, row]));
  return requests.map(({ settlement_id }) => found.get(settlement_id) ?? null);
};
