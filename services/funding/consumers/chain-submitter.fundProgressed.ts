import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { insertOutbox } from '../../../shared/db/outbox.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { movedDevFund, movedMessage } from '../moved.ts';
import { advanceDevFund } from '../store/dev_funds.ts';

export const fundProgressed =
  ({ pool, relay, waiting }: Pick<Deps, 'pool' | 'relay' | 'waiting'>) =>
  async (fact: Progress): Promise<void> => {
    const outbox = await pool.transaction(async (tx) => {
      const row = await advanceDevFund(tx, fact);
      // Signed, or signed anew after a fork: where the transfer stands has not been decided.
      const moved = row === null || row.status === 'signed' ? null : movedDevFund(row);
      return moved === null ? [] : insertOutbox(tx, [movedMessage(moved)]);
    });
    waiting.wake(wakeKey.fund(fact.object_id));
    relay.dispatch(outbox);
  };
