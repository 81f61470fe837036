import { type Fault, type Fixture, over } from '../fault.ts';
import { serviceNames } from '../faults/kill.ts';
import { restartsUnseen } from '../faults/rolling.ts';
import type { Version } from './edits.ts';

/**
 * What an operator does: all processes get a version, or all but those that write what it reads.
 */
type Step = { to: Version; except?: RegExp };

const WRITERS = { except: /^settlement/ };

const STEPS = {
  /** Also over two releases at once, because what is added here decides nothing. */
  short: [{ to: 'after next' }, { to: 'this', ...WRITERS }],
  whole: [
    { to: 'next' },
    { to: 'this' },
    { to: 'next' },
    { to: 'this', ...WRITERS },
    { to: 'next' },
    { to: 'after next' },
    { to: 'next', ...WRITERS },
  ],
} as const satisfies Record<string, readonly Step[]>;

/**
 * An upgrade under load, the way back, and forward again, process by process in any order: at each
 * moment both versions run. Migrations run before, and are never taken back.
 */
export const twoVersions = ({ harness, clientLog, breaks }: Fixture): Fault[] => {
  const { versions, stack } = harness;
  // There are none in a list of names either.
  if (!versions) return [];
  const roll = async ({ to, except }: Step, names: readonly string[]): Promise<void> => {
    await versions.migrate(to, stack.postgres_urls.settlement);
    for (const name of names.filter((each) => except?.test(each) !== true)) {
      versions.set(name, to);
      await harness.restart(name);
    }
  };
  return [
    {
      name: 'two-versions',
      holdMs: [200, 500],
      isAlone: true,
      inject: async (rng) => {
        await harness.healthy();
        await restartsUnseen({ clientLog, breaks }, async () => {
          for (const step of STEPS[versions.steps]) await roll(step, rng.shuffle(serviceNames(harness)));
        });
        return over;
      },
    },
  ];
};
