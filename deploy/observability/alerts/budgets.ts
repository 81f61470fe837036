import type { Alarm, Recording } from './alarm.ts';
import { ALL_OBJECTIVES, allowedOf, JOURNEY_NAMES, type JourneyName, OBJECTIVES } from './objectives.ts';

/**
 * Alarms on how fast the misses of a month are used up, in two windows each (Google's SRE workbook,
 * "Alerting on SLOs"). The short window ends an alarm soon after its cause.
 */
const PACES = {
  /** 2 % of the month's misses in an hour. */
  Fast: { severity: 'page', times: 14.4, long: '1h', short: '5m', lasts: 'two days', seconds: 3600 },
  /** 5 % of the month's misses in six hours. */
  Slow: { severity: 'ticket', times: 6, long: '6h', short: '30m', lasts: 'five days', seconds: 21_600 },
} as const;
type Pace = keyof typeof PACES;
const WINDOWS = Object.values(PACES).flatMap(({ long, short }) => [short, long]);

/**
 * Fewer misses in the long window prove nothing: with little traffic one call is a large part. It
 * is a half less than five, because Prometheus extrapolates.
 */
const LEAST_MISSES = 4.5;
/** Calls a minute in the cases. */
const CALLS = 100_000;

const labelsOf = (journey: JourneyName, objective: string) => ({ journey, objective });

const recordingsOf = (window: string): Recording[] => [
  ...ALL_OBJECTIVES.flatMap(({ journey, objective: { name, counted } }) => [
    { record: `objective:all:rate${window}`, expr: counted.all(window), labels: labelsOf(journey, name) },
    {
      record: `objective:misses:rate${window}`,
      expr: counted.misses(window),
      labels: labelsOf(journey, name),
    },
  ]),
  {
    record: `objective:burn:rate${window}`,
    expr: `objective:misses:rate${window} / objective:all:rate${window} / on (journey, objective) group_left objective:allowed:ratio`,
  },
];

/** The series of the objectives: all, misses, and how many times faster than allowed they come. */
export const OBJECTIVE_RECORDINGS: readonly Recording[] = [
  ...ALL_OBJECTIVES.map(({ journey, objective }) => ({
    record: 'objective:allowed:ratio',
    expr: `vector(${allowedOf(objective)})`,
    labels: labelsOf(journey, objective.name),
  })),
  ...WINDOWS.flatMap(recordingsOf),
];

/** The name of a journey's alarm: `SignInBudgetFast`. */
const budgetAlarmOf = (journey: JourneyName, pace: string): string =>
  `${journey.replaceAll(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}Budget${pace}`;

/** Four calls at the end of the time, which all missed. */
const fewOf = (series: Record<string, string>, minutes: number): Record<string, string> =>
  Object.fromEntries(
    Object.entries(series).map(([name, values]) => [
      name,
      values.startsWith('0+1x') ? `0x${minutes - 5} 1 2 3 4x10` : `0x${minutes}`,
    ]),
  );

const casesOf = (journey: JourneyName, pace: Pace) => {
  const { times, long, seconds } = PACES[pace];
  return OBJECTIVES[journey].objectives.map(({ name, counted, ...objective }) => {
    const threshold = times * allowedOf(objective) * CALLS;
    const series = (part: number) => counted.series(Math.round(part * threshold), CALLS);
    return {
      name,
      fires: { series: series(1.02), at: long, labels: { environment: 'test', ...labelsOf(journey, name) } },
      quiet: { series: series(0.98), at: long },
      few: { series: fewOf(counted.series(1, 1), seconds / 60), at: long, labels: null },
    };
  });
};

const budgetAlarm = (journey: JourneyName, pace: Pace): Alarm => {
  const { severity, times, long, short, lasts, seconds } = PACES[pace];
  const burn = (window: string) => `objective:burn:rate${window}{journey="${journey}"} > ${times}`;
  const [first, ...others] = casesOf(journey, pace);
  return {
    severity,
    summary: `At this pace the misses that the journey ${journey} has in a month are used up in ${lasts}`,
    expr: `${burn(long)} and ${burn(short)} and objective:misses:rate${long}{journey="${journey}"} * ${seconds} > ${LEAST_MISSES}`,
    runbook: `docs/objectives.md#${journey}`,
    fires: first!.fires,
    quiet: first!.quiet,
    further: {
      'four calls in all that time, which missed': first!.few,
      ...Object.fromEntries(
        others.flatMap(({ name, fires, quiet }) => [
          [`${name}, above`, fires],
          [`${name}, below`, { ...quiet, labels: null }],
        ]),
      ),
    },
  };
};

/** Two alarms for each journey: the page and the ticket. */
export const BUDGET_ALARMS: readonly (readonly [name: string, alarm: Alarm])[] = JOURNEY_NAMES.flatMap(
  (journey) =>
    (Object.keys(PACES) as Pace[]).map(
      (pace) => [budgetAlarmOf(journey, pace), budgetAlarm(journey, pace)] as const,
    ),
);
