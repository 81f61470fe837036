import { type Fault, type Fixture, over } from '../fault.ts';
import { serviceNames } from '../faults/kill.ts';
import { restartsUnseen } from '../faults/rolling.ts';
import type { Version } from './edits.ts';

/**
 * What an operator does: all processes get a version, or all but those that write what it reads.
 */
type Step = { to: Version; except?: RegExp };

const WRITERS = { except: /^settlement/ };

/** The steps of each form of the campaign. */
export const STEPS = {
  /** Also over two releases at once, because what is added here decides nothing. */
  short: [{ to: 'after next' }, { to: 'this', ...WRITERS }],
  /** One release, the way back, and forward again. */
  release: [{ to: 'next' }, { to: 'this', ...WRITERS }, { to: 'next' }],
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

/** The processes to which a step gives its version. */
export const changedBy = ({ except }: Step, names: readonly string[]): string[] =>
  names.filter((name) => except?.test(name) !== true);

/**
 * An upgrade under load, the way back, and forward again, process by process in any order: at each
 * moment both versions run. Migrations run before, and are never taken back.
 */
export const twoVersions = ({ harness, clientLog, breaks }: Fixture): Fault[] => {
  const { versions, stack } = harness;
  // There are none in a list of names either.
  if (!versions) return [];
  const roll = async (step: Step, names: readonly string[]): Promise<void> => {
    const { to } = step;
    await versions.migrate(to, stack.postgres_urls.settlement);
    for (const name of changedBy(step, names)) {
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
