import { ABSENCE, KNOWN_ENVIRONMENTS, PROCESS_ALARMS } from './absence.ts';
import { AGES } from './ages.ts';
import type { Alarm, Recording } from './alarm.ts';
import { BUDGET_ALARMS, OBJECTIVE_RECORDINGS } from './budgets.ts';
import { CHAIN } from './chain.ts';
import { EDGE } from './edge.ts';
import { PAYMENTS } from './payments.ts';
import { PLUMBING } from './plumbing.ts';
import { SERVER_ALARMS } from './servers.ts';

type Named = readonly [name: string, alarm: Alarm];
type Group = {
  name: string;
  /** How often it is evaluated. Default: as Prometheus is set. */
  interval?: string;
  recordings?: readonly Recording[];
  alarms?: readonly Named[];
};

/** Every rule about the product. */
export const GROUPS: readonly Group[] = [
  { name: 'objectives', recordings: OBJECTIVE_RECORDINGS },
  { name: 'known', recordings: [KNOWN_ENVIRONMENTS] },
  { name: 'journeys', alarms: BUDGET_ALARMS },
  { name: 'payments', alarms: Object.entries<Alarm>(PAYMENTS) },
  { name: 'chain', alarms: Object.entries<Alarm>(CHAIN) },
  { name: 'plumbing', alarms: Object.entries<Alarm>(PLUMBING) },
  { name: 'absence', interval: '15s', alarms: [...PROCESS_ALARMS, ...Object.entries<Alarm>(ABSENCE)] },
  { name: 'ages', alarms: Object.entries<Alarm>(AGES) },
  { name: 'edge', alarms: Object.entries<Alarm>(EDGE) },
];

/** The rules about the servers, which need their exporters. */
export const SERVER_GROUPS: readonly Group[] = [{ name: 'servers', alarms: SERVER_ALARMS }];

/** An expression in one line, as Prometheus shows it. */
export const oneLine = (expr: string): string => expr.replaceAll(/\s+/g, ' ').trim();

/** Where an alarm is explained. */
export const runbookOf = (name: string, { runbook }: Alarm): string =>
  runbook ?? `docs/runbook.md#${name.toLowerCase()}`;

/** An alarm as a rule of Prometheus. */
export const alarmRule = ([name, alarm]: Named) => ({
  alert: name,
  expr: oneLine(alarm.expr),
  ...(alarm.for !== undefined && { for: alarm.for }),
  labels: { severity: alarm.severity, ...alarm.labels },
  annotations: { summary: alarm.summary, runbook: runbookOf(name, alarm) },
});

/** A recording as a rule of Prometheus. */
export const recordingRule = ({ record, expr, labels }: Recording) => ({
  record,
  expr: oneLine(expr),
  ...(labels !== undefined && { labels }),
});

/** Groups as the rule file of Prometheus, and as the spec of a PrometheusRule of its operator. */
export const ruleFile = (groups: readonly Group[]) => ({
  groups: groups.map(({ name, interval, recordings = [], alarms = [] }) => ({
    name,
    ...(interval !== undefined && { interval }),
    rules: [...recordings.map(recordingRule), ...alarms.map(alarmRule)],
  })),
});
