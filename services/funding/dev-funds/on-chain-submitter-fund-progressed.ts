import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { isDecided } from '../../../shared/lib/chain/chain-work.ts';
import { insertMoved } from '../movements/events.ts';
import { transitionDevFund } from './store.ts';
import { wakeKey } from './wake-key.ts';

type Deps = { pool: Pool; relay: Outbox; waiting: Pick<Waiting, 'wake'> };

/** Records the progress of test funds and wakes the call that waits for them. */
export const fundProgressed =
  ({ pool, relay, waiting }: Deps) =>
  async (progress: Progress): Promise<void> => {
    const outbox = await pool.transaction(async (tx) => {
      const row = await transitionDevFund(tx, progress);
      // A transaction that is signed, or signed again after a fork, has no outcome to publish yet.
      return row !== null && isDecided(row.status) ? insertMoved(tx, row.fund_id) : [];
    });
    waiting.wake(wakeKey(progress.object_id));
    relay.dispatch(outbox);
  };
