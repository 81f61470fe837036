import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import type { Metric } from '../../shared/lib/telemetry/metric.ts';
import { METRICS, type MetricName } from '../../shared/lib/telemetry/metrics-catalog.ts';
import { code, table } from './map-page.ts';

/** docs/metrics.md: every metric, from the catalog. */

const serviceText = ({ by }: Metric): string => {
  const all = SERVICE_NAMES.every((name) => by.includes(name));
  if (all) return by.includes('gateway') ? 'all' : 'all but the gateway';
  return by.join(', ');
};

const labelText = ({ labels }: Metric): string =>
  Object.entries(labels)
    .map(([label, values]) => {
      const name = code(label.replaceAll('.', '_'));
      return values === null ? name : `${name}: ${values.join(', ')}`;
    })
    .join('; ') || '–';

const row = (name: MetricName): string[] => {
  const metric: Metric = METRICS[name];
  const { kind, unit, description } = metric;
  return [code(name), `${kind}, ${code(unit)}`, labelText(metric), serviceText(metric), description];
};

export const metricsPage = (): string => `# Metrics

Written by \`npm run generate\` from \`shared/lib/telemetry/metrics-catalog.ts\`. A process opens the Prometheus page when
\`OTEL_METRICS_EXPORTER=prometheus\` is set (\`OTEL_EXPORTER_PROMETHEUS_HOST\`, default localhost, and
\`OTEL_EXPORTER_PROMETHEUS_PORT\`, default 9464). The names over OTLP are the same. \`npm start\` opens one page per process and
lists them in \`.local/stack.json\`. A histogram has three series: \`_bucket\`, \`_sum\`, \`_count\`.

Each series has the label \`service_name\` and, for services of one environment, \`environment\`. Gauges are read from the
database at each scrape, so all replicas report the same value: use the maximum, not the sum. \`deploy/alerts.yaml\` has the
alarms, and \`runbook.md\` explains each of them.

${table(['Name', 'Kind, unit', 'Labels', 'Service', 'What'], (Object.keys(METRICS) as MetricName[]).map(row))}
`;
