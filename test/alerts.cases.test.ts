import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { findBinary } from '../deploy/local/servers/binaries.mjs';
import type { Alarm, Recording } from '../deploy/observability/alerts/alarm.ts';
import {
  alarmRule,
  GROUPS,
  recordingRule,
  ruleFile,
  SERVER_GROUPS,
} from '../deploy/observability/alerts/groups.ts';
import { workloads } from '../tools/k8s/workloads.ts';

/** Runs the cases of the alarms, and whole outages, by promtool. */

const root = path.resolve(import.meta.dirname, '..');
const alarms = GROUPS.flatMap((group) => group.alarms ?? []);
const all = [...alarms, ...SERVER_GROUPS.flatMap((group) => group.alarms ?? [])];
const recorded = GROUPS.flatMap((group) => group.recordings ?? []);

/** Situations of whole installations, with the pages that they must raise. */
const MINUTES = 70;
const calls = (journey: string, route: string, status: number, aMinute: number) => ({
  [`quittance_http_request_duration_seconds_count{environment="test",journey="${journey}",http_request_method="POST",http_route="${route}",http_response_status_code="${status}"}`]: `0+${aMinute}x${MINUTES}`,
});
const processes = (gone: readonly string[]) =>
  Object.fromEntries(
    workloads.map(({ name }) => [
      `quittance_build_info{${name === 'gateway' ? '' : 'environment="test",'}service_name="${name}"}`,
      gone.includes(name) ? `1x9 stale _x${MINUTES}` : `1x${MINUTES}`,
    ]),
  );
const absent = (service: string) => ({ environment: 'test', service_name: service });
const budget = (journey: string) => ({ environment: 'test', journey, objective: 'answered' });
const OUTAGES: { name: string; series: Record<string, string>; at: string; pages: [string, object[]][] }[] = [
  {
    name: 'all pods of settlement and chain-submitter are gone for 50 minutes',
    series: processes(['settlement', 'chain-submitter']),
    at: '60m',
    pages: [['ProcessAbsent', [absent('settlement'), absent('chain-submitter')]]],
  },
  {
    name: 'redeem, x402 and quote are answered 503 for an hour, while settles and reads work',
    series: {
      ...processes([]),
      ...calls('pay', '/v1/settle', 200, 60),
      ...calls('read', '/v1/settlements', 200, 60),
      ...calls('sell', '/v1/quote', 503, 60),
      ...calls('deliver', '/v1/settlements/:settlement_id/redeem', 503, 60),
      ...calls('deliver', '/v1/x402/settle', 503, 6),
    },
    at: '60m',
    pages: [
      ['DeliverBudgetFast', [budget('deliver')]],
      ['SellBudgetFast', [budget('sell')]],
      ['PayBudgetFast', []],
      ['ReadBudgetFast', []],
      ['ProcessAbsent', []],
      [
        'OperationFailing',
        [
          ['sell', '/v1/quote'],
          ['deliver', '/v1/settlements/:settlement_id/redeem'],
          ['deliver', '/v1/x402/settle'],
        ].map(([journey, http_route]) => ({
          environment: 'test',
          journey,
          http_request_method: 'POST',
          http_route,
        })),
      ],
    ],
  },
  {
    name: 'redeem alone is answered 503 for two minutes',
    series: {
      ...processes([]),
      [Object.keys(calls('deliver', '/v1/settlements/:settlement_id/redeem', 503, 60))[0]!]: '0x10 0+60x30',
      ...calls('deliver', '/v1/settlements/:settlement_id/redeem', 200, 0),
    },
    at: '14m',
    pages: [['DeliverBudgetFast', [budget('deliver')]]],
  },
];

const promtool = findBinary('promtool');
const why =
  promtool === undefined ? ' (skipped: no promtool on this machine, Debian has it in prometheus)' : '';
const withPromtool = promtool === undefined ? test.skip : test;

/** The recordings that an expression reads, and those that they read, of its own journey. */
const recordingsOf = (expr: string): Recording[] =>
  recorded
    .filter(({ record }) => expr.includes(record))
    .flatMap((each) => [...recordingsOf(each.expr), each]);
const ownRecordingsOf = (expr: string): Recording[] => [
  ...new Set(
    recordingsOf(expr).filter(
      ({ labels }) => labels === undefined || expr.includes(`journey="${labels.journey}"`),
    ),
  ),
];

const seriesOf = (all: Readonly<Record<string, string>>) =>
  Object.entries(all).map(([name, values]) => ({ series: name, values }));

const expectedOf = (name: string, alarm: Alarm, labels: object) => ({
  exp_labels: { severity: alarm.severity, ...labels },
  exp_annotations: alarmRule([name, alarm]).annotations,
});

/** The cases of an alarm as a test of promtool. */
const testsOf = (name: string, alarm: Alarm) => {
  const cases = {
    fires: alarm.fires,
    ...(alarm.quiet && { quiet: { ...alarm.quiet, labels: null } }),
    ...alarm.further,
  };
  return Object.entries(cases).map(([what, { series: input, at, labels }]) => ({
    name: `${name}, ${what}`,
    interval: '1m',
    input_series: seriesOf(input),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: name,
        exp_alerts: labels === null ? [] : [expectedOf(name, alarm, labels)],
      },
    ],
  }));
};

/** Rules with their tests. `every`: how often they are evaluated. */
type Suite = { rules: object; tests: readonly object[]; every?: string };

/** Writes suites of promtool into a folder, runs them, and returns what it says. */
const runPromtool = (suites: readonly Suite[]): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'alerts-'));
  try {
    const files = suites.map(({ rules, tests, every = '1m' }, index) => {
      writeFileSync(path.join(folder, `${index}.yaml`), stringify(rules));
      const file = path.join(folder, `${index}.test.yaml`);
      writeFileSync(file, stringify({ evaluation_interval: every, rule_files: [`${index}.yaml`], tests }));
      return file;
    });
    return execFileSync(promtool!, ['test', 'rules', ...files], { cwd: root, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

withPromtool(`every alarm fires and stays quiet as its cases state${why}`, () => {
  const rules = ruleFile(GROUPS).groups.flatMap((group) => group.rules);
  const said = execFileSync(promtool!, ['check', 'rules', 'deploy/alerts.yaml'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
  // With only the rules that it needs: a case evaluates all rules at every step of its time.
  const suites = all.map(([name, alarm]) => ({
    rules: {
      groups: [
        { name: 'recordings', rules: ownRecordingsOf(alarm.expr).map(recordingRule) },
        { name: 'alarm', rules: [alarmRule([name, alarm])] },
      ],
    },
    tests: testsOf(name, alarm),
    // A time of hours has many steps.
    every: /^([6-9]|\d{2,})h$/.test(alarm.fires.at) ? '5m' : '1m',
  }));
  expect(runPromtool(suites).match(/SUCCESS/g)).toHaveLength(suites.length);
});

withPromtool(`whole outages raise their pages${why}`, () => {
  const alarmOf = (name: string) => alarms.find(([each]) => each === name)![1];
  const tests = OUTAGES.map(({ name, series: input, at, pages }) => ({
    name,
    interval: '1m',
    input_series: seriesOf(input),
    alert_rule_test: pages.map(([alertname, expected]) => ({
      eval_time: at,
      alertname,
      exp_alerts: expected.map((labels) => {
        const { service_name } = labels as { service_name?: string };
        const own = alarms.find(
          ([each, { labels: set }]) => each === alertname && set?.service_name === service_name,
        );
        return expectedOf(alertname, own?.[1] ?? alarmOf(alertname), labels);
      }),
    })),
  }));
  expect(runPromtool([{ rules: ruleFile(GROUPS), tests }])).toContain('SUCCESS');
});

const amtool = findBinary('amtool');
const whyNot =
  amtool === undefined
    ? ' (skipped: no amtool on this machine, Debian has it in prometheus-alertmanager)'
    : '';
(amtool === undefined ? test.skip : test)(
  `Alertmanager reads its configuration, and routes by severity${whyNot}`,
  () => {
    const file = 'deploy/observability/alertmanager.yaml';
    const run = (...args: string[]) =>
      execFileSync(amtool!, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    expect(run('check-config', file)).toContain('SUCCESS');
    const receiverOf = (...labels: string[]) =>
      run('config', 'routes', 'test', `--config.file=${file}`, ...labels).trim();
    expect(receiverOf('alertname=PayBudgetFast', 'severity=page')).toBe('page');
    expect(receiverOf('alertname=PayBudgetSlow', 'severity=ticket')).toBe('ticket');
    expect(receiverOf('alertname=Watchdog', 'severity=none')).toBe('watchdog');
  },
);
