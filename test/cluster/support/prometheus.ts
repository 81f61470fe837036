import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { findBinary } from '../../../deploy/local/servers/binaries.mjs';
import { METRICS_PORT } from '../../../tools/k8s/settings.ts';
import { waitFor } from '../../support/base/wait.ts';
import type { Kubectl } from './kubectl.ts';

const RULES = path.resolve(import.meta.dirname, '../../../deploy/alerts.yaml');

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

type FiringAlert = { labels: Record<string, string>; state: 'pending' | 'firing' };

/** A Prometheus on this machine with the alarms of an installation. `close` ends it. */
export type Alarms = { read: () => Promise<FiringAlert[]>; close: () => Promise<void> };

/**
 * The pods that `k8s/components/monitoring` scrapes, as targets that are read through the API
 * server, because the network of the pods need not be reachable from here.
 */
const targetsOf = async (own: Kubectl, apiServer: string): Promise<object[]> => {
  const selector = 'app.kubernetes.io/part-of=quittance,!quittance.dev/server,!quittance.dev/phase';
  const pods = await own.list('pods', '--selector', selector, '--field-selector', 'status.phase=Running');
  return pods.map(({ metadata: { name, labels } }) => ({
    targets: [apiServer],
    labels: {
      __metrics_path__: `/api/v1/namespaces/${own.namespace}/pods/${name}:${METRICS_PORT}/proxy/metrics`,
      instance: name,
      service_name: labels['app.kubernetes.io/name'],
    },
  }));
};

/** Debian's Prometheus does not know Kubernetes, so it asks here. */
const serveTargets = async (own: Kubectl, apiServer: string) => {
  const server = createServer((_request, response) => {
    void targetsOf(own, apiServer).then(
      (targets) => response.setHeader('content-type', 'application/json').end(JSON.stringify(targets)),
      () => response.writeHead(503).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${portOf(server)}`, close: () => server.close() };
};

const configOf = (targets: string) => ({
  global: { scrape_interval: '15s', scrape_timeout: '10s', evaluation_interval: '15s' },
  rule_files: [RULES],
  scrape_configs: [{ job_name: 'quittance', http_sd_configs: [{ url: targets, refresh_interval: '5s' }] }],
});

/** A port that was free a moment ago: Prometheus does not say which one it has chosen. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
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
  const targets = await serveTargets(own, `127.0.0.1:${proxy.port}`);
  writeFileSync(config, stringify(configOf(targets.url)));
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
  const close = async (): Promise<void> => {
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
    targets.close();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // The Watchdog is always on.
    await waitFor(
      () => read().catch(() => []),
      (now) => now.some(({ labels }) => labels.alertname === 'Watchdog'),
      120_000,
      1000,
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { read, close };
};
