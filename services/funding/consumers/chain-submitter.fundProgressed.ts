import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { isDecided } from '../../../shared/lib/progress.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { tellMoved } from '../moved.ts';
import { advanceDevFund } from '../store/dev_funds.ts';

export const fundProgressed =
  ({ pool, relay, waiting }: Pick<Deps, 'pool' | 'relay' | 'waiting'>) =>
  async (fact: Progress): Promise<void> => {
    const outbox = await pool.transaction(async (tx) => {
      const row = await advanceDevFund(tx, fact);
      // Signed, or signed anew after a fork: where the transfer stands has not been decided.
      return row !== null && isDecided(row.status) ? tellMoved(tx, row.fund_id) : [];
    });
    waiting.wake(wakeKey.fund(fact.object_id));
    relay.dispatch(outbox);
  };
