import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { headers, type Msg } from 'nats';
import type { Fault } from '../fault.ts';
import type { Harness } from '../harness.ts';

const holdMs = [2000, 5000] as const;
const LONGEST_WAIT_MS = 2500;
const MOST_COPIES = 3;
const COPY = 'Campaign-Copy';

/**
 * Everything that is published is delivered again, up to three times and in another order, without
 * the message id that would suppress it.
 */
const doubled = (harness: Harness): Fault => ({
  name: 'messages-doubled',
  holdMs,
  inject: async (rng) => {
    const copies = new Set<Promise<void>>();
    const copy = async ({ subject, data }: Msg, waitMs: number) => {
      await sleep(waitMs);
      const marked = headers();
      marked.set(COPY, '1');
      harness.bus.publish(subject, data, { headers: marked });
    };
    const listening = ['job.>', 'evt.>'].map((subject) =>
      harness.bus.subscribe(subject, {
        callback: (_error, message) => {
          if (message.headers?.has(COPY)) return;
          for (let count = rng.int(1, MOST_COPIES + 1); count > 0; count -= 1) {
            const work = copy(message, rng.int(0, LONGEST_WAIT_MS)).finally(() => copies.delete(work));
            copies.add(work);
          }
        },
      }),
    );
    return async () => {
      for (const subscription of listening) subscription.unsubscribe();
      await Promise.all(copies);
    };
  },
});

/** Each message waits for a random time before it is published, so that the order changes. */
const shuffled = ({ failpointFolder }: Harness): Fault => ({
  name: 'messages-shuffled',
  holdMs,
  inject: async () => {
    const file = path.join(failpointFolder, 'outbox.beforePublish.wait');
    writeFileSync(file, String(LONGEST_WAIT_MS));
    return async () => rmSync(file, { force: true });
  },
});

export const messageFaults = (harness: Harness): Fault[] => [doubled(harness), shuffled(harness)];
