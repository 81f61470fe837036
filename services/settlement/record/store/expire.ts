import { type Db, sql } from '../../../../shared/db/pool.ts';
import { type OutboxRow, outboxRow } from '../../../../shared/events/outbox.ts';
import { activeTraceparent } from '../../../../shared/lib/telemetry/trace.ts';
import { chainState, state, windowElapsed } from './conditions.ts';
import { endColumns, expiredEvents } from './end-events.ts';

/**
 * Marks settlements past their window as expired; returns their events. Replicas may run it at
 * once. The first condition is the one that an index serves.
 */
export const recordExpired = (db: Db, limit: number): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with changed as (
      update settlements set status = ${state.after('elapse')}, expires_from = null
      where settlement_id in (
        select settlement_id from settlements
        where expires_from <= app_now() and ${state.isFrom('elapse')} and ${chainState.isFrom('elapse')} and ${windowElapsed}
        order by expires_from limit ${limit} for update skip locked)
      returning ${endColumns('settlements')}, ${activeTraceparent()}::text as traceparent
    )
    ${expiredEvents}`);
