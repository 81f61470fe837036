import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { findBinary } from '../../../deploy/local/servers/binaries.mjs';
import { waitFor } from '../../support/base/wait.ts';
import type { Kubectl } from './kubectl.ts';

const RULES = path.resolve(import.meta.dirname, '../../../deploy/alerts.yaml');

type FiringAlert = { labels: Record<string, string>; state: 'pending' | 'firing' };

/** A Prometheus on this machine with the alarms of an installation. `close` ends it. */
export type Alarms = { read: () => Promise<FiringAlert[]>; close: () => Promise<void> };

/**
 * The targets of `k8s/components/monitoring`, found and read through the API server, because the
 * network of the pods need not be reachable from here.
 */
const configOf = (apiServer: string, namespace: string) => ({
  global: { scrape_interval: '15s', scrape_timeout: '10s', evaluation_interval: '15s' },
  rule_files: [RULES],
  scrape_configs: [
    {
      job_name: 'quittance',
      kubernetes_sd_configs: [
        { role: 'pod', api_server: `http://${apiServer}`, namespaces: { names: [namespace] } },
      ],
      relabel_configs: [
        {
          action: 'keep',
          source_labels: ['__meta_kubernetes_pod_label_app_kubernetes_io_part_of'],
          regex: 'quittance',
        },
        { action: 'keep', source_labels: ['__meta_kubernetes_pod_container_port_name'], regex: 'metrics' },
        { action: 'replace', source_labels: ['__meta_kubernetes_pod_name'], target_label: 'instance' },
        {
          action: 'replace',
          source_labels: ['__meta_kubernetes_pod_label_app_kubernetes_io_name'],
          target_label: 'service_name',
        },
        {
          action: 'replace',
          source_labels: ['__meta_kubernetes_pod_name', '__meta_kubernetes_pod_container_port_number'],
          separator: ':',
          regex: '(.+)',
          target_label: '__metrics_path__',
          replacement: `/api/v1/namespaces/${namespace}/pods/\${1}/proxy/metrics`,
        },
        { action: 'replace', target_label: '__address__', replacement: apiServer },
      ],
    },
  ],
});

/** A port that was free a moment ago: Prometheus does not say which one it has chosen. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/**
 * Starts a Prometheus over the pods of a namespace, and waits until it has evaluated the rules.
 * @throws without the program `prometheus`
 */
export const startAlarms = async (own: Kubectl): Promise<Alarms> => {
  const command = findBinary('prometheus');
  if (command === undefined) throw new Error('prometheus is missing (Debian: apt-get install prometheus)');
  const proxy = await own.proxy();
  const folder = mkdtempSync(path.join(tmpdir(), 'cluster-prometheus-'));
  const config = path.join(folder, 'prometheus.yaml');
  writeFileSync(config, stringify(configOf(`127.0.0.1:${proxy.port}`, own.namespace)));
  const port = await freePort();
  const child = spawn(
    command,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const read = async (): Promise<FiringAlert[]> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`);
    return ((await response.json()) as { data: { alerts: FiringAlert[] } }).data.alerts;
  };
  // The Watchdog is always on.
  await waitFor(
    () => read().catch(() => []),
    (now) => now.some(({ labels }) => labels.alertname === 'Watchdog'),
    120_000,
    1000,
  );
  const close = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { read, close };
};
