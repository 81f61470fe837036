import type { Output } from '../../sdk/src/main.ts';

export type AccountEvent = Output<'webhook.listEvents'>['data'][number];

/**
 * How far each read goes back behind the newest event that was seen. Two events that are written at
 * the same time may become visible in either order.
 */
const OVERLAP_MS = 60_000;

/**
 * The new events of a list that is read newest first, each once and oldest first. What exists at
 * the first read is not new.
 * @param list reads the list from its newest event, page by page
 */
export const createEventFeed = (list: () => AsyncIterable<AccountEvent>) => {
  const seen = new Map<string, number>();
  let newestAt: number | null = null;
  let started = false;

  /** Events that were not seen, newest first. Stops where all older ones were seen. */
  const unseen = async (): Promise<AccountEvent[]> => {
    const found: AccountEvent[] = [];
    let endsAt = newestAt === null ? null : newestAt - OVERLAP_MS;
    for await (const event of list()) {
      const at = Date.parse(event.created_at);
      // The first read needs the events of one overlap only.
      if (!started && endsAt === null) endsAt = at - OVERLAP_MS;
      if (endsAt !== null && at < endsAt) break;
      if (!seen.has(event.event_id)) found.push(event);
    }
    return found;
  };

  return {
    /** An error changes nothing: the next read returns what this one would have returned. */
    read: async (): Promise<AccountEvent[]> => {
      const found = await unseen();
      for (const { event_id, created_at } of found) {
        const at = Date.parse(created_at);
        seen.set(event_id, at);
        newestAt = Math.max(newestAt ?? at, at);
      }
      for (const [id, at] of seen) if (newestAt !== null && at < newestAt - OVERLAP_MS) seen.delete(id);
      if (started) return found.reverse();
      started = true;
      return [];
    },
  };
};
