import type { Program } from '../../../shared/contract/service.ts';
import { LANES } from '../../../shared/lib/lane.ts';
import { programNames } from '../../local/stack/programs.ts';
import type { Alarm, Recording } from './alarm.ts';

/**
 * Alarms about what is not there. A process that is gone has no series, so no comparison of its
 * values holds.
 */

/** Each process reports it, and it is stale as soon as the process cannot be read. */
const ALIVE = 'quittance_build_info';

/** The environments of the last day, by any of their processes. */
export const KNOWN_ENVIRONMENTS: Recording = {
  record: 'environment:known:last1d',
  expr: `group by (environment) (last_over_time(${ALIVE}{environment!=""}[1d]))`,
};

/**
 * Where no replica of a process can be read: in an environment that is known, or if none is known.
 * The gateway is of no environment.
 */
const absenceOf = (program: Program): string => {
  const own = `${ALIVE}{service_name="${program}"}`;
  return program === 'gateway'
    ? `absent(${own})`
    : `${KNOWN_ENVIRONMENTS.record} unless on (environment) ${own} or absent(${KNOWN_ENVIRONMENTS.record})`;
};

const HOUR = 60;
const aliveSeries = (program: Program, environment = 'test'): string =>
  program === 'gateway'
    ? `${ALIVE}{service_name="gateway"}`
    : `${ALIVE}{environment="${environment}",service_name="${program}"}`;
const allAlive = (environment?: string) =>
  Object.fromEntries(programNames.map((each) => [aliveSeries(each, environment), `1x${HOUR}`]));

const processAbsent = (program: Program): Alarm => {
  const goneAfter = `1x9 stale _x${HOUR}`;
  const labels = { service_name: program };
  const environment = program === 'gateway' ? {} : { environment: 'test' };
  const without = (series: string) =>
    Object.fromEntries(Object.entries(allAlive()).filter(([each]) => each !== series));
  return {
    severity: 'page',
    summary: `No process of ${program} can be read`,
    expr: absenceOf(program),
    // A restart takes seconds. With the time of a scrape and an evaluation it pages in two minutes.
    for: '45s',
    labels,
    fires: {
      series: { ...allAlive(), [aliveSeries(program)]: goneAfter },
      at: '12m',
      labels: { ...environment, ...labels },
    },
    quiet: { series: allAlive(), at: '12m' },
    further: {
      'one of two replicas is gone': {
        series: { ...allAlive(), [aliveSeries(program).replace('}', ',instance="second"}')]: goneAfter },
        at: '12m',
        labels: null,
      },
      'it was never there': {
        series: without(aliveSeries(program)),
        at: '12m',
        labels: { ...environment, ...labels },
      },
      ...(program !== 'gateway' && {
        'it is gone in one of two environments': {
          series: { ...allAlive('live'), ...allAlive(), [aliveSeries(program)]: goneAfter },
          at: '12m',
          labels: { ...environment, ...labels },
        },
      }),
      'no process was ever there': { series: {}, at: '12m', labels },
      'every process is gone': {
        series: Object.fromEntries(Object.keys(allAlive()).map((each) => [each, goneAfter])),
        at: '40m',
        labels: { ...environment, ...labels },
      },
    },
  };
};

/** One for each process of the product. */
export const PROCESS_ALARMS: readonly (readonly [name: string, alarm: Alarm])[] = programNames.map(
  (program) => ['ProcessAbsent', processAbsent(program)] as const,
);

const lanes = (replica: string) =>
  `quittance_lanes{environment="test",service_name="settlement",instance="${replica}"}`;

export const ABSENCE = {
  LanesWithoutOwner: {
    severity: 'page',
    summary: 'The replicas of a service do not own all lanes',
    expr: `sum by (environment, service_name) (quittance_lanes) < ${LANES}`,
    for: '2m',
    fires: {
      series: { [lanes('a')]: '8x20', [lanes('b')]: '8x5 7x15' },
      at: '10m',
      labels: { environment: 'test', service_name: 'settlement' },
    },
    quiet: { series: { [lanes('a')]: '8x20', [lanes('b')]: '8x20' }, at: '10m' },
    further: {
      'a replica ends, and another takes its lanes': {
        series: { [lanes('a')]: '8x5 16x15', [lanes('b')]: '8x4 stale' },
        at: '6m',
        labels: null,
      },
    },
  },
  SyntheticPaymentsStopped: {
    severity: 'ticket',
    summary: 'The job that makes synthetic payments has ended',
    expr: `
      max by (environment) (last_over_time(${ALIVE}{service_name="synthetic"}[1d]))
        unless on (environment) ${ALIVE}{service_name="synthetic"}`,
    for: '10m',
    fires: {
      series: { [`${ALIVE}{environment="test",service_name="synthetic"}`]: `1x9 stale _x${HOUR}` },
      at: '30m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: { [`${ALIVE}{environment="test",service_name="synthetic"}`]: `1x${HOUR}` },
      at: '30m',
    },
  },
  Watchdog: {
    severity: 'none',
    summary: 'Always on: the alarms themselves work. A program outside pages when it does not come',
    expr: 'vector(1)',
    fires: { series: {}, at: '5m', labels: {} },
    quiet: null,
  },
} as const satisfies Record<string, Alarm>;
