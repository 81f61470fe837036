import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { intents } from '../model/state.ts';

const state = stateColumn(intents, sql.fragment`i.status`);
/** Their blockhash has expired long before, so no late call can sign the same message. */
const KEPT_FOR = '1 day';
const BATCH = 1000;

/**
 * Deletes payments whose buyer was to sign last and that never came on chain. Anybody can ask for
 * one, so they must not pile up. Those that failed on chain are kept, because they cost lamports.
 */
export const deleteUnsent = async (db: Db): Promise<void> => {
  for (;;) {
    const deleted = await db.any(sql.typeAlias('id')`
      with old as (
        select i.intent_id from intents i
        where i.kind = 'incoming' and ${state.is('failed')} and jsonb_exists(i.request, 'signs_last')
          and i.slot is null and i.created_at < app_now() - ${KEPT_FOR}::interval
        limit ${BATCH} for update skip locked
      ), bytes as (
        delete from transactions t using old where t.intent_id = old.intent_id
      )
      delete from intents i using old where i.intent_id = old.intent_id returning i.intent_id as id`);
    if (deleted.length < BATCH) return;
  }
};
