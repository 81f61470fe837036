import { LRUCache } from 'lru-cache';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { eventSubject } from '../../../shared/events/event.ts';
import { type Entry, eventList } from '../../../shared/events/event-list.ts';
import type { OutboxRow } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';

/** The payments of some minutes under the heaviest load. */
const MAX_ENTRIES = 20_000;

/**
 * The replica of settlement that waits for the progress of a payment. Only the memory of this
 * process has it: whoever executes the intent later publishes the progress instead.
 */
export const createWaiters = () => {
  const entries = new LRUCache<string, string>({ max: MAX_ENTRIES });
  return {
    add: (settlementId: string, replicaId: string): void => void entries.set(settlementId, replicaId),
    find: (settlementId: string): string | undefined => entries.get(settlementId),
  };
};
type Waiters = ReturnType<typeof createWaiters>;

const PROGRESS = eventSubject('chain-submitter.settleProgressed');

/**
 * The row with the replicas that wait for its events. If one of them is not known, the row is
 * published, because it is deleted as a whole.
 */
const withReceivers = (waiters: Pick<Waiters, 'find'>, row: OutboxRow): OutboxRow => {
  if (row.subject !== PROGRESS) return row;
  const entriesOf = new Map<string, Entry[]>();
  for (const entry of eventList([row])) {
    const replicaId = waiters.find((entry.payload as Progress).object_id);
    if (replicaId === undefined) return row;
    entriesOf.set(replicaId, [...(entriesOf.get(replicaId) ?? []), entry]);
  }
  const parts = [...entriesOf].map(([replicaId, entries]) => ({
    receiver: { service: 'settlement', name: 'settleProgressed', receiver: replicaId } as const,
    entries,
  }));
  return { ...row, parts };
};

/** An outbox whose progress of payments is handed over to the replicas that wait for it. */
export const handingToWaiters = ({ dispatch }: Outbox, waiters: Pick<Waiters, 'find'>): Outbox => ({
  dispatch: (rows, options) =>
    dispatch(
      rows.map((row) => withReceivers(waiters, row)),
      options,
    ),
});
