import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test as plainTest } from '@jest/globals';
import { stringify } from 'yaml';
import { readFigures } from '../../bench/figures.ts';
import { readLoads } from '../../bench/load-ratios.ts';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';
import { askedOver, askedReplicas, LANED, loadQuery, replicasOver } from './load-scaling.ts';

const promtool = findBinary('promtool');
if (promtool === undefined) console.warn('the query of the autoscalers is skipped: there is no promtool');
const withPromtool = promtool === undefined ? plainTest.skip : plainTest;

/** The recording again and again, for an hour. */
const hourOf = (samples: readonly number[], everySeconds: number): number[] =>
  Array.from({ length: Math.ceil(3600 / everySeconds) }, (_, at) => samples[at % samples.length]!);

const { rates } = readLoads();
const { cpuMsOf } = readFigures().payment;
const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;

/**
 * The loads at 30 and 100 payments a second are recorded. A machine of two cores that others use
 * makes no 300, so that one is the CPU of a settle (bench/figures.json), with the moves of the
 * recorded one.
 */
const loadsAt = (rate: 30 | 100 | 300, service: (typeof LANED)[number], share = 1) => {
  if (rate !== 300) return rates[rate]!;
  const { samples, everySeconds } = rates[100]!;
  const by = (share * rate * cpuMsOf[service]) / 1000 / mean(samples[service]);
  return { everySeconds, samples: { ...samples, [service]: samples[service].map((load) => load * by) } };
};

plainTest.each(
  LANED.flatMap((service) => [
    { rate: 30 as const, service, share: 1, replicas: 2 },
    { rate: 100 as const, service, share: 1, replicas: 2 },
    { rate: 300 as const, service, share: 1, replicas: 3 },
    // The lower end of what a settle took.
    { rate: 300 as const, service, share: 1 / 1.3, replicas: 3 },
  ]),
)(
  '$service: $rate payments a second have $replicas replicas for an hour ($share)',
  ({ rate, service, share, replicas }) => {
    const { samples, everySeconds } = loadsAt(rate, service, share);
    expect(samples[service].length).toBeGreaterThanOrEqual(12);
    const numbers = replicasOver(askedOver(hourOf(samples[service], everySeconds), everySeconds), service);
    const changes = numbers.filter((number, at) => at > 0 && number !== numbers[at - 1]);
    // It begins with two.
    expect(changes).toEqual(replicas === 2 ? [] : [replicas]);
    expect(numbers.at(-1)).toBe(replicas);
  },
);

plainTest('a replica for each quarter of a core, and one that stands by', () => {
  expect([0, 0.1, 0.25, 0.26, 0.5, 0.51].map(askedReplicas)).toEqual([1, 2, 2, 3, 3, 4]);
});

plainTest('a burst is no load: more replicas after a minute, fewer after ten', () => {
  const asked = (value: number, minutes: number) => Array<number>(minutes * 4).fill(value);
  const numbers = replicasOver([...asked(2, 2), ...asked(4, 0.5), ...asked(2, 2)], 'settlement');
  expect(new Set(numbers)).toEqual(new Set([2]));
  const up = replicasOver([...asked(2, 1), ...asked(4, 2), ...asked(2, 12)], 'settlement');
  expect(up.indexOf(4)).toBe(4 + 3);
  expect(up.lastIndexOf(4)).toBe(12 + 38);
  expect(up.at(-1)).toBe(2);
  // Never above the bound, and never below two.
  expect(replicasOver(asked(40, 5), 'settlement').at(-1)).toBe(6);
  expect(replicasOver(asked(1, 5), 'settlement').at(-1)).toBe(2);
  // Asked for 2 and 3 in turns, it stays at what it has.
  const turns = Array.from({ length: 200 }, (_, at) => 2 + (at % 2));
  expect(new Set(replicasOver(turns, 'settlement'))).toEqual(new Set([2]));
});

withPromtool('the query adds up the owners of lanes, and not who stands by or has gone', () => {
  const series = (metric: string, instance: string, values: string, service = 'settlement') => ({
    series: `${metric}{environment="live",service_name="${service}",instance="${instance}"}`,
    values,
  });
  const load = 'quittance_replica_load_ratio';
  const folder = mkdtempSync(path.join(tmpdir(), 'load-scaling-'));
  try {
    const file = path.join(folder, 'query.yaml');
    const text = stringify({
      tests: [
        {
          interval: '15s',
          input_series: [
            ...[series(load, 'a', '0.4x80'), series('quittance_lanes', 'a', '8x80')],
            ...[series(load, 'b', '0.2x80'), series('quittance_lanes', 'b', '8x80')],
            ...[series(load, 'standby', '0.3x80'), series('quittance_lanes', 'standby', '0x80')],
            ...[series(load, 'gone', '0.9x20'), series('quittance_lanes', 'gone', '16x20')],
            ...[series(load, 'other', '9x80', 'quote'), series('quittance_lanes', 'other', '16x80', 'quote')],
          ],
          promql_expr_test: [
            {
              expr: loadQuery('settlement', 'live'),
              eval_time: '15m',
              exp_samples: [{ labels: '{}', value: 4 }],
            },
            {
              expr: loadQuery('settlement', 'live'),
              eval_time: '4m',
              exp_samples: [{ labels: '{}', value: 7 }],
            },
            // Nobody owns lanes: no answer, and KEDA's fallback.
            { expr: loadQuery('chain-submitter', 'live'), eval_time: '15m', exp_samples: [] },
          ],
        },
      ],
    });
    writeFileSync(file, text);
    expect(execFileSync(promtool!, ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
