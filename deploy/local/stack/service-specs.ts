import path from 'node:path';
import type { Program } from '../../../shared/contract/service.ts';
import { LOCAL_PORT } from '../../../shared/lib/local-api.ts';
import { NODE_FLAGS } from '../../image/bundle.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { instanceName, programNames } from './programs.ts';
import {
  gatewayEnvironment,
  type RunningEnvironment,
  type SharedSettings,
  serviceEnvironment,
} from './service-environment.ts';
import type { Settings } from './settings.ts';
import { responds } from './tool-specs.ts';

/** The first default port of the Prometheus exporters. */
const firstMetricsPort = 9464;

/**
 * The services of test use the chain with the scenarios. Live has none, and requires two providers:
 * this machine has one chain, which ignores the path.
 */
const providersOf = ({ rpc_url: chainUrl, scenariosUrl }: RunningEnvironment): readonly string[] =>
  scenariosUrl === null ? [chainUrl, new URL('/second', chainUrl).href] : [scenariosUrl];

/** A process and the URL of its metrics. */
type ServiceSpec = { spec: ProcessSpec; metricsUrl: string };

/**
 * One process per service, environment and instance. A gateway serves all environments. The names
 * are those of stack.json: without a suffix for the first environment, `settlement@live` for
 * another one, and `settlement#2` for a second instance.
 */
export async function serviceSpecs(options: {
  settings: Settings;
  environments: readonly RunningEnvironment[];
  gatewayPorts: readonly number[];
  port: (preferred: number) => Promise<number>;
  shared: SharedSettings;
  tracesUrl: string | null;
  command: NonNullable<Settings['serviceCommand']>;
}): Promise<ServiceSpec[]> {
  const { settings, environments, gatewayPorts, port, shared, tracesUrl, command } = options;
  const metricsPort = () => port(firstMetricsPort);
  const specs: ServiceSpec[] = [];
  for (const [index, http] of gatewayPorts.entries()) {
    const env = gatewayEnvironment(http, environments, shared);
    const ports = { http, metrics: await metricsPort() };
    const traced = { ...env, ...telemetryEnvironment(tracesUrl) };
    specs.push(serviceSpec(command, 'gateway', instanceName('gateway', index + 1), ports, traced));
  }
  for (const [index, environment] of environments.entries()) {
    for (const [offset, service] of programNames.entries()) {
      if (service === 'gateway') continue;
      const suffix = index === 0 ? '' : `@${environment.name}`;
      for (let instance = 1; instance <= (settings.instances?.[service] ?? 1); instance++) {
        const name = instanceName(`${service}${suffix}`, instance);
        const ownPort = await port(LOCAL_PORT + offset);
        const env = serviceEnvironment(service, ownPort, environment, {
          ...shared,
          nameServers: settings.nameServers,
          rpcUrls: settings.rpcUrls?.(environment.rpc_url) ?? providersOf(environment),
        });
        const ports = { http: ownPort, metrics: await metricsPort() };
        const traced = { ...env, ...telemetryEnvironment(tracesUrl) };
        specs.push(serviceSpec(command, service, name, ports, traced));
      }
    }
  }
  return specs;
}

/**
 * The OTEL_* variables of `npm start`, so that traces can go to a collector. With `--traces` ours
 * replace them.
 */
function telemetryEnvironment(tracesUrl: string | null): Record<string, string> {
  const given = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('OTEL_') && value !== undefined ? [[name, value] as const] : [],
  );
  const ours = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${tracesUrl}/v1/traces`,
    OTEL_BSP_SCHEDULE_DELAY: '500',
  };
  return { ...Object.fromEntries(given), ...(tracesUrl === null ? {} : ours) };
}

function serviceSpec(
  serviceCommand: NonNullable<Settings['serviceCommand']>,
  service: Program,
  name: string,
  ports: { http: number; metrics: number },
  env: Record<string, string>,
): ServiceSpec {
  const host = '127.0.0.1';
  return {
    spec: {
      name,
      kind: 'service',
      ...serviceCommand(service, name),
      env: {
        ...env,
        OTEL_METRICS_EXPORTER: 'prometheus',
        OTEL_EXPORTER_PROMETHEUS_HOST: host,
        OTEL_EXPORTER_PROMETHEUS_PORT: String(ports.metrics),
      },
      port: ports.http,
      ready: () => responds(`http://${host}:${ports.http}/v1/health/ready`),
    },
    metricsUrl: `http://${host}:${ports.metrics}/metrics`,
  };
}

/** Runs the programs of the image, with the image's flags. */
export function programs(folder: string): NonNullable<Settings['serviceCommand']> {
  return (service) => ({
    command: process.execPath,
    args: [...NODE_FLAGS, path.join(folder, 'services', service, 'main.js')],
  });
}
