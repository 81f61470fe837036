import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { writeComposeFiles } from '../../deploy/compose/init.ts';
import { run } from './command.ts';
import type { Engine } from './engine/engine.ts';
import type { Installation } from './payment.ts';

export type Project = {
  /** A copy of this tree, with the files of `compose:init`. */
  folder: string;
  /** The arguments of `docker` that precede a Compose command. */
  compose: readonly string[];
};

/** The name of the containers beside those that an engine of this machine may already run. */
const OTHER_NAME = `quittance-containers-${process.pid}`;

const GENERATED = '.local/compose';

/** The port of the page of NATS that counts its messages, inside the containers' network. */
export const NATS_MONITOR_PORT = 8222;

/**
 * A Compose file that publishes the same ports at free ports of this machine, which an engine that
 * is not only ours shares with other programs.
 */
export const portsOverride = (composeYaml: string): string => {
  const { services } = parse(composeYaml, { merge: true }) as {
    services: Record<string, { ports?: string[] }>;
  };
  const published = Object.entries(services).flatMap(([name, { ports }]) => {
    const free = ports?.map((each) => `"127.0.0.1::${each.split(':').at(-1)}"`);
    return free === undefined ? [] : [`  ${name}: { ports: !override [${free.join(', ')}] }\n`];
  });
  return `services:\n${published.join('')}`;
};

/**
 * A Compose file that adds what `counts.test.ts` reads: the messages of NATS and the RPC calls of
 * chain-submitter. Its payments exceed the limits of requests, so those are raised. The WAL has no
 * full pages, because their number depends on the moment of the last checkpoint.
 */
const countedOverride = (folder: string): string => `services:
  postgres: { command: [postgres, -c, max_connections=400, -c, full_page_writes=off] }
  nats: { command: [--config, /etc/nats/quittance.conf, --http_port, "${NATS_MONITOR_PORT}"] }
  chain-submitter: { environment: { OTEL_METRICS_EXPORTER: prometheus } }
  gateway:
    environment: { LIMITS_FILE: /etc/quittance/limits.json }
    volumes: ["${path.join(folder, '.local/limits.json')}:/etc/quittance/limits.json:ro"]
`;

/**
 * Copies what git tracks or would add: the commands run as in a fresh clone, and the checkout
 * stays as it is. Writes the keys and variables that `npm run ops -- compose:init` writes.
 */
export const createProject = (
  repository: string,
  folder: string,
  { isOwn }: Pick<Engine, 'isOwn'>,
): Project => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(repository, file)));
  for (const file of files) cpSync(path.join(repository, file), path.join(folder, file));
  const generated = path.join(folder, GENERATED);
  mkdirSync(generated, { recursive: true, mode: 0o700 });
  writeComposeFiles(generated);
  const main = path.join(folder, 'deploy/compose.yaml');
  const counted = path.join(folder, '.local/counted.yaml');
  writeFileSync(path.join(folder, '.local/limits.json'), JSON.stringify({ scale: 1000 }));
  writeFileSync(counted, countedOverride(folder));
  const compose = ['compose', '--file', main, '--file', counted];
  if (isOwn) return { folder, compose };
  const override = path.join(folder, '.local/ports.yaml');
  writeFileSync(override, portsOverride(readFileSync(main, 'utf8')));
  return { folder, compose: [...compose, '--file', override, '--project-name', OTHER_NAME] };
};

/** The addresses of the running containers. */
export const installationOf = async (
  { docker }: Pick<Engine, 'docker'>,
  { folder, compose }: Project,
): Promise<Installation> => {
  const at = async (service: string, port: number) =>
    `http://${(await run(docker, [...compose, 'port', service, String(port)])).trim()}`;
  const settlement = parseEnv(readFileSync(path.join(folder, GENERATED, 'settlement.env'), 'utf8'));
  return {
    gateway_url: await at('gateway', 3000),
    mail_url: await at('mail', 8025),
    rpc_url: await at('chain', 8899),
    usdc_mint: settlement.USDC_MINT!,
    fee_wallet: settlement.FEE_WALLET!,
  };
};
