import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { type Fault, over } from '../fault.ts';
import type { Harness } from '../harness.ts';

const SERVERS = new Set(['postgres', 'nats-server', 'redis-server', 'chain']);
export const serviceNames = ({ names }: Harness): string[] => names.filter((name) => !SERVERS.has(name));

const gap = [300, 1500] as const;

/** kill -9 of each process of the product, and of several at once. */
export const kills = (harness: Harness): Fault[] => [
  ...serviceNames(harness).map(
    (name): Fault => ({
      name: `kill-${name}`,
      holdMs: gap,
      inject: async () => ((await harness.kill(name)) ? over : null),
    }),
  ),
  {
    name: 'kill-several',
    holdMs: gap,
    inject: async (rng) => {
      const victims = rng.shuffle(serviceNames(harness)).slice(0, rng.int(2, 5));
      await Promise.all(victims.map(harness.kill));
      return over;
    },
  },
];

/** A crash right before or right after a failpoint, in whichever process passes it first. */
export const crashes = ({ failpointFolder }: Harness): Fault[] =>
  Object.keys(failpoints).flatMap((point) =>
    (['before', 'after'] as const).map((side): Fault => {
      const file = path.join(failpointFolder, `${point}.${side}`);
      return {
        name: `crash-${side}-${point}`,
        holdMs: [200, 600],
        inject: async () => {
          rmSync(`${file}.hit`, { force: true });
          writeFileSync(file, '');
          // Payments run all the time, so a process passes the failpoint soon and dies.
          for (let waited = 0; existsSync(file) && waited < 5000; waited += 20) await sleep(20);
          rmSync(file, { force: true });
          return existsSync(`${file}.hit`) ? over : null;
        },
      };
    }),
  );
