import type { Run } from './run.ts';
import { ratios, type Sample, type Summary, summary } from './statistics.ts';

export type Side = {
  name: string;
  /** One measured round. Whatever it needs is made before its clock runs. */
  round: (seconds: number) => Promise<Sample>;
};

export type Comparison = {
  /** By the side's name, in the order of the rounds. */
  samples: Record<string, Sample[]>;
  /** Ours against each other side by name, pair by pair. */
  ratios: Record<string, { perSecond: Summary; p50: Summary }>;
};

const three = ({ min, median, max }: Summary): number[] => [min, median, max];

/**
 * Measures sides by turns, every second round in the opposite order, after a shorter round each that does not count.
 * Prints the table of all and the ratios of the first side, ours, to each other.
 */
export const compare = async (
  { report, options }: Run,
  title: string,
  sides: readonly Side[],
): Promise<Comparison> => {
  const samples: Comparison['samples'] = Object.fromEntries(sides.map(({ name }) => [name, []]));
  for (const side of sides) {
    report.progress(`${title}: ${side.name} warms up`);
    await side.round(Math.min(3, options.seconds));
  }
  for (let round = 0; round < options.rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      report.progress(`${title}: round ${round + 1} of ${options.rounds}, ${side.name}`);
      samples[side.name]!.push(await side.round(options.seconds));
    }
  }
  const figures = (list: readonly Sample[], of: 'perSecond' | 'p50' | 'p99') =>
    three(summary(list.map((sample) => sample[of])));
  report.table(
    title,
    ['', 'a second min', 'median', 'max', 'p50 ms min', 'median', 'max', 'p99 ms min', 'median', 'max'],
    sides.map(({ name }) => {
      const list = samples[name]!;
      return [name, ...figures(list, 'perSecond'), ...figures(list, 'p50'), ...figures(list, 'p99')];
    }),
  );
  const [ours, ...others] = sides.map(({ name }) => name) as [string, ...string[]];
  const paired = (other: string, of: 'perSecond' | 'p50') =>
    summary(
      ratios(
        samples[ours]!.map((sample) => sample[of]),
        samples[other]!.map((sample) => sample[of]),
      ),
    );
  const against = Object.fromEntries(
    others.map((other) => [other, { perSecond: paired(other, 'perSecond'), p50: paired(other, 'p50') }]),
  );
  if (others.length > 0) {
    report.table(
      `${title}: ${ours} as a share of`,
      ['', 'a second min', 'median', 'max', 'p50 min', 'median', 'max'],
      Object.entries(against).map(([other, { perSecond, p50 }]) => [
        other,
        ...three(perSecond),
        ...three(p50),
      ]),
    );
  }
  report.data(title, samples);
  return { samples, ratios: against };
};
