import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { alertmanagerConfig } from '../deploy/observability/alerts/alertmanager.ts';
import { GROUPS, oneLine, runbookOf, SERVER_GROUPS } from '../deploy/observability/alerts/groups.ts';
import { INHIBITIONS } from '../deploy/observability/alerts/inhibitions.ts';
import { JOURNEY_NAMES, operationsOf } from '../deploy/observability/alerts/objectives.ts';
import { DASHBOARDS } from '../deploy/observability/dashboards/dashboards.ts';
import { contractList } from '../shared/contract/index.ts';
import type { Metric } from '../shared/lib/telemetry/metric.ts';
import { METRICS, type MetricName } from '../shared/lib/telemetry/metrics-catalog.ts';
import { workloads } from '../tools/k8s/workloads.ts';

/** The alarms, the pages that explain them and the catalog of metrics agree. */

const root = path.resolve(import.meta.dirname, '..');
const alarms = GROUPS.flatMap((group) => group.alarms ?? []);
/** Those over the metrics of others have the same form. */
const all = [...alarms, ...SERVER_GROUPS.flatMap((group) => group.alarms ?? [])];
const recorded = GROUPS.flatMap((group) => group.recordings ?? []);
const names = [...new Set(all.map(([name]) => name))];
const runbook = readFileSync(path.join(root, 'docs/runbook.md'), 'utf8');

/** Sections of a page by their anchor; of the runbook those of its part "Alarms". */
const sectionsOf = (page: string) => {
  const text = readFileSync(path.join(root, page), 'utf8');
  const end = text.indexOf('\n# Recoveries\n');
  return text
    .slice(Math.max(0, text.indexOf('\n# Alarms\n')), end === -1 ? undefined : end)
    .split('\n## ')
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const);
};
const PAGES = ['docs/runbook.md', 'docs/objectives.md', 'docs/runbook-servers.md'];
const sections = new Map(
  PAGES.flatMap((page) =>
    sectionsOf(page).map(([title, section]) => [`${page}#${title.toLowerCase()}`, section] as const),
  ),
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
const gauge = { kind: 'gauge', unit: '1', by: [], buckets: [], description: '' } as const;
/** The series that the recording rules make. */
for (const { record } of recorded)
  series.set(record, { ...gauge, labels: { journey: JOURNEY_NAMES, objective: null } });
series.set('up', { ...gauge, labels: { job: null } });
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

test.each(recorded.map((each) => [each.record, each.labels, each] as const))(
  '%s %j is recorded from metrics that exist, and an alarm or another recording uses it',
  (name, _labels, { expr }) => {
    const { errors, selectors, grouping } = understand(oneLine(expr));
    expect(errors).toEqual([]);
    expect(selectors.flatMap(impossible)).toEqual([]);
    expect(['environment', 'journey', 'objective']).toEqual(expect.arrayContaining([...grouping]));
    const users = [...recorded, ...alarms.map(([, alarm]) => alarm)];
    expect(users.some((each) => each.expr.includes(name))).toBe(true);
  },
);

test.each(alarms.map(([name, alarm]) => [name, alarm.labels, alarm] as const))(
  '%s %j is PromQL over metrics, labels and values that exist',
  (_name, _labels, { expr, quiet }) => {
    const { errors, selectors, grouping } = understand(oneLine(expr));
    expect(errors).toEqual([]);
    // Only what always fires reads nothing.
    expect(selectors.length > 0).toBe(quiet !== null);
    expect(selectors.flatMap(impossible)).toEqual([]);
    const labels = selectors.flatMap(({ metric }) =>
      Object.keys({ ...COMMON, ...underscored(series.get(metric)!.labels) }),
    );
    expect([...grouping].filter((label) => !labels.includes(label))).toEqual([]);
  },
);

test.each(SERVER_GROUPS.flatMap((group) => group.alarms ?? []))('%s is PromQL', (_name, { expr }) => {
  const { errors, selectors } = understand(oneLine(expr));
  expect(errors).toEqual([]);
  expect(selectors.length).toBeGreaterThan(0);
});

describe.each(names)('%s', (name) => {
  const own = all.filter(([each]) => each === name).map(([, alarm]) => alarm);

  test('has its section, with its expression and the parts that an operator needs', () => {
    const places = new Set(own.map((alarm) => runbookOf(name, alarm)));
    expect(places.size).toBe(1);
    const [place] = [...places];
    const section = sections.get(place as `${string}#${string}`) ?? '';
    const shown = [...section.matchAll(/```promql\n([\s\S]*?)\n```/g)].map(([, expr]) => oneLine(expr!));
    // A rule for each process: the section has one for all.
    const exprs = own.map(({ expr, labels = {} }) =>
      oneLine(expr).replaceAll(`"${labels.service_name}"`, '"<process>"'),
    );
    expect(exprs.some((expr) => shown.includes(expr))).toBe(true);
    const isOfPage = place!.startsWith('docs/objectives.md');
    for (const part of [...(isOfPage ? [] : ['Threshold']), 'Means', 'Look first', 'Do', 'Never'])
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

test('each section belongs to an alarm, and those of the runbook are in the order of the alarms', () => {
  const places = [...new Set(all.map(([name, alarm]) => runbookOf(name, alarm)))];
  const inOrder = (page: string, found: readonly string[]) =>
    found.filter((each) => each.startsWith(`${page}#`));
  for (const page of PAGES) expect(inOrder(page, [...sections.keys()])).toEqual(inOrder(page, places));
});

test('each operation belongs to one journey, or is a probe', () => {
  const operations = contractList.flatMap(({ name: service, operations }) =>
    Object.entries(operations).map(([name, { journey }]) => ({ id: `${service}.${name}`, journey })),
  );
  const counted = JOURNEY_NAMES.flatMap((journey) => operationsOf(journey).map(({ id }) => id));
  const probes = operations.filter(({ journey }) => journey === 'probe').map(({ id }) => id);
  expect(probes).toEqual(['gateway.health', 'gateway.ready']);
  expect([...counted, ...probes].toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
});

test('each process of the product has an alarm on its absence', () => {
  const watched = alarms.filter(([name]) => name === 'ProcessAbsent').map(([, { labels }]) => labels);
  expect(watched).toEqual(workloads.map(({ name }) => ({ service_name: name })));
});

test('what Alertmanager silences and routes are alarms that exist', () => {
  for (const { by, silences } of INHIBITIONS) {
    expect(names).toEqual(expect.arrayContaining([by, ...silences]));
    expect(silences).not.toContain(by);
  }
  const { receivers, route } = alertmanagerConfig();
  const used = [route.receiver, ...route.routes.map(({ receiver }) => receiver)];
  expect(new Set(receivers.map(({ name }) => name))).toEqual(new Set(used));
  expect(route.routes[0]!.matchers).toEqual(['alertname="Watchdog"']);
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
