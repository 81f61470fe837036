import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { parse, stringify } from 'yaml';
import { findBinary } from '../deploy/local/servers/binaries.mjs';
import { DASHBOARDS } from '../deploy/observability/dashboards/dashboards.ts';
import type { Metric } from '../shared/lib/telemetry/metric.ts';
import { METRICS, type MetricName } from '../shared/lib/telemetry/metrics-catalog.ts';

/** deploy/alerts.yaml, docs/runbook.md and the catalog of metrics agree. */

const root = path.resolve(import.meta.dirname, '..');
type Recorded = { record: string; expr: string };
type Rule = {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
};
const { groups } = parse(readFileSync(path.join(root, 'deploy/alerts.yaml'), 'utf8')) as {
  groups: { name: string; rules: (Rule | Recorded)[] }[];
};
const all = groups.flatMap((group) => group.rules);
const rules = all.filter((rule) => 'alert' in rule);
const recorded = all.filter((rule) => 'record' in rule);
const runbook = readFileSync(path.join(root, 'docs/runbook.md'), 'utf8');

/** Sections of the runbook's part "Alarms", by title. */
const sections = new Map(
  runbook
    .slice(runbook.indexOf('\n# Alarms\n'), runbook.indexOf('\n# Recoveries\n'))
    .split('\n## ')
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
);

/** The names of a metric on the page, the three series of a histogram included, with its labels. */
const series = new Map<string, Metric>(
  (Object.keys(METRICS) as MetricName[]).flatMap((name) =>
    (METRICS[name].kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map(
      (suffix) => [name + suffix, METRICS[name]] as const,
    ),
  ),
);
/** The labels of Prometheus. */
const gauge = { kind: 'gauge', unit: '1', by: [], labels: {}, buckets: [], description: '' } as const;
/** The series that the recording rules make, with the labels of every metric. */
for (const { record } of recorded) series.set(record, gauge);
series.set('up', { kind: 'gauge', unit: '1', by: [], labels: { job: null }, buckets: [], description: '' });
const COMMON: Metric['labels'] = { environment: null, service_name: null, le: null };

const underscored = (labels: Metric['labels']) =>
  Object.fromEntries(Object.entries(labels).map(([label, values]) => [label.replaceAll('.', '_'), values]));

type Selector = { metric: string; matchers: { label: string; op: string; value: string }[] };

/** Selectors and grouping labels of an expression, or the reason why it is not PromQL. */
const understand = (expr: string) => {
  const errors: number[] = [];
  const selectors: Selector[] = [];
  const grouping = new Set<string>();
  const text = ({ from, to }: { from: number; to: number }) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: (node) => {
      if (node.type.isError) errors.push(node.from);
      if (node.name === 'Identifier') selectors.push({ metric: text(node), matchers: [] });
      if (node.name === 'UnquotedLabelMatcher') {
        const [, label, op, value] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(text(node)) ?? [];
        selectors.at(-1)?.matchers.push({ label: label!, op: op!, value: value! });
      }
      if (node.name === 'GroupingLabels')
        for (const label of text(node).match(/\w+/g) ?? []) grouping.add(label);
    },
  });
  return { errors, selectors, grouping };
};

/** The parts of an expression that never match, by the values in the catalog. */
const impossible = ({ metric, matchers }: Selector): string[] => {
  const known = series.get(metric);
  if (known === undefined) return [`no metric ${metric}`];
  const labels = { ...COMMON, ...underscored(known.labels) };
  return matchers.flatMap(({ label, op, value }) => {
    const values = labels[label];
    if (values === undefined) return [`${metric} has no label ${label}`];
    if (values === null) return [];
    const asked = op.includes('~') ? value.split('|') : [value];
    return asked
      .filter((each) => !values.includes(each))
      .map((each) => `${metric}: ${label} is never ${each}`);
  });
};

test.each(recorded.map((rule) => [rule.record, rule] as const))(
  '%s is recorded from metrics that exist, and an alarm uses it',
  (name, { expr }) => {
    const { errors, selectors, grouping } = understand(expr);
    expect(errors).toEqual([]);
    expect(selectors.flatMap(impossible)).toEqual([]);
    expect([...grouping]).toEqual(['environment']);
    expect(rules.some((rule) => rule.expr.includes(`${name} `))).toBe(true);
  },
);

describe.each(rules.map((rule) => [rule.alert, rule] as const))('%s', (name, rule) => {
  const { errors, selectors, grouping } = understand(rule.expr);

  test('is PromQL over metrics, labels and values that exist', () => {
    expect(errors).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    expect(selectors.flatMap(impossible)).toEqual([]);
    const labels = selectors.flatMap(({ metric }) =>
      Object.keys({ ...COMMON, ...underscored(series.get(metric)!.labels) }),
    );
    expect([...grouping].filter((label) => !labels.includes(label))).toEqual([]);
  });

  test('has its section in the runbook, with this expression and the parts that an operator needs', () => {
    expect(rule.annotations.runbook).toBe(`docs/runbook.md#${name.toLowerCase()}`);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    const section = sections.get(name) ?? '';
    const shown = /```promql\n([\s\S]*?)\n```/.exec(section)?.[1];
    expect(shown?.replaceAll(/\s+/g, ' ')).toBe(rule.expr);
    for (const part of ['Threshold', 'Means', 'Look first', 'Do', 'Never'])
      expect({ [part]: section.includes(`**${part}.**`) }).toEqual({ [part]: true });
  });
});

describe.each(DASHBOARDS.map((dashboard) => [dashboard.title, dashboard] as const))(
  '%s',
  (_title, { rows }) => {
    const queries = rows.flatMap(({ panels }) =>
      panels.flatMap((panel) => panel.queries.map((query) => [panel.title, query] as const)),
    );
    test.each(queries)('%s queries metrics that exist', (_panel, { expr, legend = '' }) => {
      // Grafana fills these in.
      const filled = expr.replaceAll('$environment', 'test').replaceAll('$__rate_interval', '1m');
      const { errors, selectors, grouping } = understand(filled);
      expect(errors).toEqual([]);
      expect(selectors.length).toBeGreaterThan(0);
      const exact = selectors.map(({ metric, matchers }) => ({
        metric,
        matchers: matchers.filter(({ label, value }) => label !== 'environment' && !value.includes('.*')),
      }));
      expect(exact.flatMap(impossible)).toEqual([]);
      for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g)) expect([...grouping]).toContain(label);
    });
  },
);

test('each section of the runbook belongs to an alarm, and each name occurs once', () => {
  expect([...sections.keys()]).toEqual(rules.map(({ alert }) => alert));
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

const promtool = findBinary('promtool');
const why =
  promtool === undefined ? ' (skipped: no promtool on this machine, Debian has it in prometheus)' : '';

/** The recordings that an expression reads, and those that they read. */
const recordingsOf = (expr: string): Recorded[] =>
  recorded
    .filter(({ record }) => expr.includes(record))
    .flatMap((each) => [...recordingsOf(each.expr), each]);

/**
 * Writes the unit tests of each alarm into a file of its own, with only the rules that it needs: a
 * case of the alarms' file evaluates all rules at every step of its time.
 * @returns the files
 */
const writeCases = (folder: string): string[] => {
  const { tests, ...common } = parse(readFileSync(path.join(root, 'deploy/alerts.test.yaml'), 'utf8')) as {
    tests: { alert_rule_test: { alertname: string }[] }[];
  };
  return rules.map((rule) => {
    const file = path.join(folder, `${rule.alert}.test.yaml`);
    const isOurs = ({ alertname }: { alertname: string }) => alertname === rule.alert;
    const own = tests.filter(({ alert_rule_test }) => alert_rule_test.some(isOurs));
    expect(own.flatMap(({ alert_rule_test }) => alert_rule_test).filter((each) => !isOurs(each))).toEqual([]);
    const needed = new Set([...recordingsOf(rule.expr), rule]);
    const kept = groups.map((group) => ({ ...group, rules: group.rules.filter((each) => needed.has(each)) }));
    const groupsOfRule = kept.filter((group) => group.rules.length > 0);
    writeFileSync(path.join(folder, `${rule.alert}.yaml`), stringify({ groups: groupsOfRule }));
    writeFileSync(file, stringify({ ...common, rule_files: [`${rule.alert}.yaml`], tests: own }));
    return file;
  });
};

(promtool === undefined ? test.skip : test)(
  `every alarm fires and stays quiet as its unit tests state${why}`,
  () => {
    const run = (...args: string[]) => execFileSync(promtool!, args, { cwd: root, encoding: 'utf8' });
    expect(run('check', 'rules', 'deploy/alerts.yaml')).toContain(`SUCCESS: ${all.length} rules found`);
    const folder = mkdtempSync(path.join(tmpdir(), 'alerts-'));
    try {
      const said = run('test', 'rules', ...writeCases(folder));
      expect(said.match(/SUCCESS/g)).toHaveLength(rules.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('every alarm has a unit test in which it fires and one in which it does not', () => {
  const { tests } = parse(readFileSync(path.join(root, 'deploy/alerts.test.yaml'), 'utf8')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const tried = tests.flatMap((each) =>
    each.alert_rule_test.map(({ alertname, exp_alerts }) => `${alertname} ${exp_alerts.length > 0}`),
  );
  expect(tried.sort()).toEqual(rules.flatMap(({ alert }) => [`${alert} false`, `${alert} true`]).sort());
});

test('the runbook names only metrics that exist', () => {
  const named = new Set([...runbook.matchAll(/\bquittance_[a-z_]+\b/g)].map(([name]) => name));
  const labels = new Set([...series.values()].flatMap(({ labels: own }) => Object.keys(underscored(own))));
  expect([...named].filter((name) => !series.has(name) && !labels.has(name))).toEqual([]);
});

test('these tests can fail: an unknown metric, label, value and broken PromQL are found', () => {
  expect(understand('max(quittance_nothing) > 1').selectors.flatMap(impossible)).toEqual([
    'no metric quittance_nothing',
  ]);
  expect(understand('quittance_attempts{mood="bad"}').selectors.flatMap(impossible)).toEqual([
    'quittance_attempts has no label mood',
  ]);
  expect(understand('quittance_attempts{state=~"pending|lost"}').selectors.flatMap(impossible)).toEqual([
    'quittance_attempts: state is never lost',
  ]);
  expect(understand('max by (environment (quittance_attempts) > 1').errors).not.toEqual([]);
});
