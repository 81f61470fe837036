import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { isDecided } from '../../../shared/lib/chain-work.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { insertMoved } from '../events.ts';
import { transitionDevFund } from '../store/dev_funds.ts';

export const fundProgressed =
  ({ pool, relay, waiting }: Pick<Deps, 'pool' | 'relay' | 'waiting'>) =>
  async (event: Progress): Promise<void> => {
    const outbox = await pool.transaction(async (tx) => {
      const row = await transitionDevFund(tx, event);
      // Signed, or signed anew after a fork: where the transfer stands has not been decided.
      return row !== null && isDecided(row.status) ? insertMoved(tx, row.fund_id) : [];
    });
    waiting.wake(wakeKey.fund(event.object_id));
    relay.dispatch(outbox);
  };
