import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { SCRAPE_SECONDS } from '../dashboards/query.ts';
import { writeAtomically } from '../processes/atomic-file.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { repositoryRoot } from '../servers/binaries.mjs';
import { binary } from '../servers/server-process.ts';
import { genesisMint } from './keys.ts';
import type { RunningEnvironment } from './service-environment.ts';
import type { Settings } from './settings.ts';

const host = '127.0.0.1';

const program = (folder: string): string => path.join(import.meta.dirname, '..', folder, 'main.ts');

/** Where mails are sent to, and the page that shows them. */
export const mailUrls = (ports: { smtp: number; http: number }) => ({
  smtpUrl: `smtp://${host}:${ports.smtp}`,
  caughtMailUrl: `http://${host}:${ports.http}`,
});

/** The mail catcher. */
export function mailSpec(stateDir: string, ports: { smtp: number; http: number }): ProcessSpec {
  return {
    name: 'mail',
    kind: 'tool',
    command: process.execPath,
    args: [program('mail')],
    env: {
      MAIL_SMTP_PORT: String(ports.smtp),
      MAIL_HTTP_PORT: String(ports.http),
      MAIL_DATA_DIR: path.join(stateDir, 'mail'),
    },
    port: ports.http,
    ready: () => responds(`http://${host}:${ports.http}/messages`),
    // stack.json names processes that a test may kill. The catcher only serves the tests.
    listed: false,
  };
}

/** The collector of traces and their page. */
export function tracesSpec(port: number): ProcessSpec {
  return {
    name: 'traces',
    kind: 'tool',
    command: process.execPath,
    args: [program('traces')],
    env: { TRACES_PORT: String(port) },
    port,
    ready: () => responds(`http://${host}:${port}/traces`),
    listed: false,
  };
}

/**
 * Prometheus, which reads the metrics of all processes, with the rules of an installation
 * (deploy/alerts.yaml).
 */
export function prometheusSpec(stateDir: string, port: number, metricsUrls: readonly string[]): ProcessSpec {
  const folder = path.join(stateDir, 'prometheus');
  const config = path.join(folder, 'prometheus.json');
  const { command, env } = binary('prometheus');
  return {
    name: 'prometheus',
    kind: 'tool',
    command,
    ...(env && { env }),
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      '--storage.tsdb.retention.time=7d',
      `--web.listen-address=${host}:${port}`,
      '--log.level=warn',
    ],
    prepare: () => {
      mkdirSync(folder, { recursive: true });
      // JSON is YAML.
      writeAtomically(config, `${JSON.stringify(prometheusConfig(metricsUrls), null, 2)}\n`);
    },
    port,
    ready: () => responds(`http://${host}:${port}/-/ready`),
    listed: false,
  };
}

const prometheusConfig = (metricsUrls: readonly string[]) => ({
  global: { scrape_interval: `${SCRAPE_SECONDS}s`, evaluation_interval: `${SCRAPE_SECONDS}s` },
  rule_files: [path.join(repositoryRoot, 'deploy/alerts.yaml')],
  scrape_configs: [
    { job_name: 'quittance', static_configs: [{ targets: metricsUrls.map((url) => new URL(url).host) }] },
  ],
});

/** The page that shows the dashboards. */
export function dashboardsSpec(port: number, prometheusPort: number): ProcessSpec {
  return {
    name: 'dashboards',
    kind: 'tool',
    command: process.execPath,
    args: [program('dashboards')],
    env: { DASHBOARDS_PORT: String(port), PROMETHEUS_URL: `http://${host}:${prometheusPort}` },
    port,
    ready: () => responds(`http://${host}:${port}/dashboards`),
    listed: false,
  };
}

/**
 * The local chain of an environment: RPC on `port`, WebSocket on the next one too.
 * @param options.scenariosPort the chain's second port, which plays the scenarios; null without one
 */
export function chainSpec(options: {
  settings: Settings;
  environment: Pick<RunningEnvironment, 'name' | 'keys'>;
  port: number;
  scenariosPort: number | null;
  first: boolean;
}): ProcessSpec {
  const { settings, port, scenariosPort, first } = options;
  const { name, keys } = options.environment;
  return {
    name: first ? 'chain' : `chain@${name}`,
    kind: 'tool',
    command: process.execPath,
    args: [program('chain')],
    env: {
      CHAIN_PORT: String(port),
      ...(scenariosPort !== null && { CHAIN_SCENARIOS_PORT: String(scenariosPort) }),
      CHAIN_DATA_DIR: path.join(settings.stateDir, `chain-${name}`),
      CHAIN_GENESIS_MINT: genesisMint(keys),
      CHAIN_SLOT_MS: String(settings.chainSlotMs ?? 400),
      ...(settings.chainControl ? { CHAIN_CONTROL: '1' } : {}),
      ...(settings.chainPrograms && { CHAIN_PROGRAMS: settings.chainPrograms }),
    },
    port,
    ready: () => healthyChain(`http://${host}:${port}`),
  };
}

/** The sandboxes of the fiat providers of an environment, both on one port. */
export function onrampsSpec(options: {
  settings: Settings;
  environment: Pick<RunningEnvironment, 'name' | 'keys' | 'rpc_url' | 'usdc_mint'>;
  port: number;
  first: boolean;
  gatewayUrl: string;
}): ProcessSpec {
  const { settings, environment, port, first, gatewayUrl } = options;
  const { name, keys, rpc_url, usdc_mint } = environment;
  const { keySecret: _ours, ...coinbase } = keys.onramps.coinbase;
  return {
    name: first ? 'onramps' : `onramps@${name}`,
    kind: 'tool',
    command: process.execPath,
    args: [program('sandboxes')],
    env: {
      ONRAMPS_PORT: String(port),
      ONRAMPS_DATA_DIR: path.join(settings.stateDir, `onramps-${name}`),
      ONRAMPS_WEBHOOKS: `${gatewayUrl}/v1/providers`,
      ONRAMPS_ENVIRONMENT: name,
      ONRAMPS_RPC_URL: rpc_url,
      ONRAMPS_MINT: usdc_mint,
      ONRAMPS_TREASURY_KEY: keys.onrampTreasury.secretKey,
      ONRAMPS_KEYS: JSON.stringify({ moonpay: keys.onramps.moonpay, coinbase }),
    },
    port,
    ready: () => responds(`http://${host}:${port}/health`),
  };
}

/** Whether the URL answers 200. */
export async function responds(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function healthyChain(url: string): Promise<boolean> {
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(3000) });
    return ((await response.json()) as { result?: string }).result === 'ok';
  } catch {
    return false;
  }
}
