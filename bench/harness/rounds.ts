import type { Run } from './run.ts';
import { ratios, type Sample, type Summary, summary } from './statistics.ts';

export type Side = {
  name: string;
  /** One measured round. Its preparation happens before the clock starts. */
  round: (seconds: number) => Promise<Sample>;
};

/** Samples by the side's name, in the order of the rounds. */
export type Samples = Record<string, Sample[]>;

/** One side against another, round by round. */
export type Ratio = { perSecond: Summary; p50: Summary; p99: Summary; mean: Summary };

const FIGURES = ['perSecond', 'p50', 'p99'] as const;
const three = ({ min, median, max }: Summary): number[] => [min, median, max];

/**
 * Measures the sides in turns, every second round in the opposite order, after a shorter warm-up
 * round of each side. Prints the table of all.
 * @returns the first side, ours, against each other side, by its name
 */
export const compare = async (
  run: Run,
  title: string,
  sides: readonly Side[],
): Promise<Record<string, Ratio>> => {
  const { report, options } = run;
  const samples: Samples = Object.fromEntries(sides.map(({ name }) => [name, []]));
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
  const [ours, ...others] = sides.map(({ name }) => name) as [string, ...string[]];
  showSamples(run, title, samples);
  return Object.fromEntries(
    others.map((other) => [
      other,
      showRatio(run, `${title}: ${ours} as a share of ${other}`, samples[ours]!, samples[other]!),
    ]),
  );
};

/** Minimum, median and maximum of every side's rounds. */
export const showSamples = ({ report }: Run, title: string, samples: Samples): void => {
  report.table(
    title,
    ['', 'per second min', 'median', 'max', 'p50 ms min', 'median', 'max', 'p99 ms min', 'median', 'max'],
    Object.entries(samples).map(([name, list]) => [
      name,
      ...FIGURES.flatMap((figure) => three(summary(list.map((sample) => sample[figure])))),
    ]),
  );
  report.data(title, samples);
};

/** The ratios of two sides that were measured in turns. */
export const showRatio = (
  { report }: Run,
  title: string,
  ours: readonly Sample[],
  theirs: readonly Sample[],
): Ratio => {
  const of = (figure: keyof Ratio): Summary =>
    summary(
      ratios(
        ours.map((sample) => sample[figure]),
        theirs.map((sample) => sample[figure]),
      ),
    );
  const ratio = { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), mean: of('mean') };
  report.table(
    title,
    ['', 'min', 'median', 'max'],
    [
      ['throughput', ...three(ratio.perSecond)],
      ['p50', ...three(ratio.p50)],
      ['p99', ...three(ratio.p99)],
      ['mean', ...three(ratio.mean)],
    ],
  );
  return ratio;
};
