import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { nkeyOf } from '../../shared/bus/nkey.ts';
import { natsRights } from '../../shared/bus/topology.ts';
import { type Program, SERVICE_NAMES } from '../../shared/contract/service.ts';
import { databasesIn } from '../../shared/db/databases.ts';
import { syntheticConfig } from '../../shared/synthetic/config.ts';
import { composeFaults } from '../../test/support/base/compose-schema.ts';
import { type Reach, workloads } from '../../tools/k8s/workloads.ts';
import { MAX_DATABASES } from '../local/servers/choose-servers.ts';
import { programNames } from '../local/stack/programs.ts';
import { DASHBOARDS } from '../observability/dashboards/dashboards.ts';
import { composeFiles, writeComposeFiles } from './init.ts';

/**
 * Compares compose.yaml with the schema of Compose and with our own code, because the file cannot
 * be run where there is no engine.
 */
type Service = {
  image: string;
  build?: { target?: string };
  command?: string[];
  env_file?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  networks: string[];
  volumes?: string[];
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
};
const deploy = path.resolve(import.meta.dirname, '..');
const yaml = (file: string) => parse(readFileSync(path.join(deploy, file), 'utf8'), { merge: true });
const compose = yaml('compose.yaml') as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);

const folder = mkdtempSync(path.join(tmpdir(), 'compose-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const files = composeFiles(folder);
writeComposeFiles(folder);

/** The folder with the files of `compose:init`, as compose.yaml names it. */
const GENERATED = '../.local/compose/';

/**
 * The variables of a container: its files, then its own variables with Compose's
 * `${COMPOSE_PROFILES:+…}` filled in.
 */
const variablesOf = (
  { env_file = [], environment = {} }: Service,
  profiles: string,
): Record<string, string> => ({
  ...Object.assign({}, ...env_file.map((file) => parseEnv(files[file.replace(GENERATED, '')]!))),
  ...Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{COMPOSE_PROFILES:\+([^}]*)\}/, profiles === '' ? '' : '$1'),
    ]),
  ),
});

test('compose.yaml is valid by the schema of the Compose specification', () => {
  expect(composeFaults(compose)).toEqual([]);
  expect(composeFaults({ services: { x: { imagee: 'y' } } })).not.toEqual([]);
});

test.each(programNames)(
  '%s runs from the image with every setting that its config.ts requires',
  async (name) => {
    const service = compose.services[name]!;
    expect(service).toMatchObject({ image: 'quittance:local', command: [name] });
    const { config } = await import(`../../services/${name}/config.ts`);
    for (const profiles of ['', 'observability']) {
      const { success, error } = config.safeParse(variablesOf(service, profiles));
      expect([success, error?.issues]).toEqual([true, undefined]);
    }
    expect(variablesOf(service, '').OTEL_METRICS_EXPORTER).toBe('');
    expect(variablesOf(service, 'observability').OTEL_EXPORTER_OTLP_ENDPOINT).toBe('http://collector:4318');
    expect(service.healthcheck).toBeDefined();
  },
);

test('every image is pinned, and every file that is mounted or read exists', () => {
  for (const [name, { image, build, env_file = [], volumes = [] }] of services) {
    if (build)
      expect([name, image]).toEqual([name, `quittance${build.target ? `-${build.target}` : ''}:local`]);
    else
      expect([name, image]).toEqual([name, expect.stringMatching(/^[a-z/-]+:v?\d+\.\d+(\.\d+)?(-alpine)?$/)]);
    for (const file of env_file) expect(Object.keys(files)).toContain(file.replace(GENERATED, ''));
    for (const volume of volumes) {
      const source = volume.split(':')[0]!;
      if (source.startsWith('.')) {
        const file = source.startsWith(GENERATED)
          ? path.join(folder, source.replace(GENERATED, ''))
          : path.join(deploy, source);
        expect([source, existsSync(file)]).toEqual([source, true]);
      } else expect(Object.keys(compose.volumes)).toContain(source);
    }
  }
  const [, major, minor] = /^nats:(\d+)\.(\d+)\./.exec(compose.services.nats!.image)!.map(Number);
  expect(major! * 100 + minor!).toBeGreaterThanOrEqual(212);
});

test('a dependency is awaited by its successful end if it is a job, and by its health if it is a service', () => {
  for (const [name, { depends_on = {} }] of services) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const target = compose.services[other];
      expect([name, other, target === undefined]).toEqual([name, other, false]);
      const job = ['migrate', 'setup-bus', 'seed'].includes(other);
      expect([name, other, condition]).toEqual([
        name,
        other,
        job ? 'service_completed_successfully' : 'service_healthy',
      ]);
      if (!job) expect(target!.healthcheck).toBeDefined();
    }
  }
});

test('our own containers write nothing and have no privilege, and ports are open to this machine only', () => {
  for (const [name, { build, read_only, cap_drop, security_opt, ports = [], networks }] of services) {
    if (build)
      expect([name, read_only, cap_drop, security_opt]).toEqual([
        name,
        true,
        ['ALL'],
        ['no-new-privileges:true'],
      ]);
    for (const port of ports)
      expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:\d+:\d+$/)]);
    expect(networks.filter((network) => !Object.hasOwn(compose.networks, network))).toEqual([]);
  }
});

/**
 * The containers that a container can connect to: all that share a network with it, and the world
 * if one of its networks is not internal.
 */
const reachOf = (name: string): string[] => {
  const { networks } = compose.services[name]!;
  const peers = services.filter(
    ([other, service]) => other !== name && service.networks.some((each) => networks.includes(each)),
  );
  const out = networks.some((network) => compose.networks[network]?.internal !== true);
  return [...peers.map(([other]) => other), ...(out ? ['the world'] : [])].sort();
};
/** The container in compose.yaml for each target that a workload may reach in a cluster. */
const STAND_INS = {
  nats: 'nats',
  postgres: 'postgres',
  redis: 'redis',
  rpc: 'chain',
  smtp: 'mail',
  https: 'onramps',
  vendors: 'the world',
} satisfies Record<Reach, string>;

test('chain-submitter, which holds the signing keys, reaches what its network policy allows and nothing else', () => {
  const { reaches } = workloads.find(({ name }) => name === 'chain-submitter')!;
  // A network policy calls these two `monitoring`. Here they are a profile.
  const expected = [...reaches.map((reach) => STAND_INS[reach]), 'collector', 'prometheus'];
  expect(reachOf('chain-submitter')).toEqual(expected.sort());
});

test('every program reaches what it needs, only chain-submitter reaches the chain, and only programs that must reach the world do', () => {
  for (const { name, reaches } of workloads)
    expect([name, reachOf(name)]).toEqual([
      name,
      expect.arrayContaining(reaches.map((reach) => STAND_INS[reach])),
    ]);
  const reaching = (whom: string) =>
    services.map(([name]) => name).filter((name) => reachOf(name).includes(whom));
  expect(reaching('chain').sort()).toEqual(['chain-submitter', 'onramps', 'seed']);
  expect(reaching('the world').sort()).toEqual([
    'chain',
    'gateway',
    'grafana',
    'mail',
    'onramps',
    'prometheus',
    'webhook',
  ]);
  // A published port needs a network that is not internal. Otherwise the engine does not publish
  // it.
  for (const [name, { ports = [] }] of services)
    if (ports.length > 0)
      expect([name, reachOf(name)]).toEqual([name, expect.arrayContaining(['the world'])]);
});

test('compose.yaml holds no secret, and the files with secrets are not in git', () => {
  const named = services.flatMap(([name, { environment = {} }]) =>
    Object.keys(environment)
      .filter((variable) => /PASSWORD|SECRET|KEY|TOKEN|SEED|_URL$/.test(variable))
      .map((variable) => `${name}: ${variable}`),
  );
  expect(named).toEqual([]);
  expect(readFileSync(path.join(deploy, '../.gitignore'), 'utf8').split('\n')).toContain('.local/');
  for (const [, { env_file = [] }] of services)
    for (const file of env_file) expect(file.startsWith(GENERATED)).toBe(true);
});

test('only chain-submitter gets Solana keys, and each service gets its own database role and NATS user', () => {
  const holding = programNames.filter((name) => files[`${name}.env`]!.includes('FEE_PAYER_KEYS'));
  expect(holding).toEqual(['chain-submitter']);
  const seeds = new Set<string>();
  for (const name of programNames) {
    if (name === 'gateway') continue;
    const { POSTGRES_URL, NATS_NKEY_SEED } = parseEnv(files[`${name}.env`]!);
    expect(new URL(POSTGRES_URL!).username).toBe(`quittance_test_${name.replaceAll('-', '_')}`);
    seeds.add(NATS_NKEY_SEED!);
  }
  expect(seeds.size).toBe(programNames.length - 1);
  for (const seed of seeds) expect(files['nats.conf']).not.toContain(seed);
});

test('with a Postgres per service each service reaches its own, for which `migrate` waits', () => {
  const more = yaml('compose.databases.yaml') as Pick<typeof compose, 'services' | 'volumes'>;
  const { migrate, ...servers } = more.services;
  const merged = {
    ...compose,
    volumes: { ...compose.volumes, ...more.volumes },
    services: {
      ...compose.services,
      ...servers,
      migrate: {
        ...compose.services.migrate!,
        depends_on: { ...compose.services.migrate!.depends_on, ...migrate!.depends_on },
      },
    } as Record<string, Service>,
  };
  expect(composeFaults(merged)).toEqual([]);
  for (const [name, { image, env_file, volumes }] of Object.entries(servers))
    expect([name, image, env_file, volumes]).toEqual([
      name,
      compose.services.postgres!.image,
      compose.services.postgres!.env_file,
      [`${name}:/var/lib/postgresql`],
    ]);
  expect(new Set(Object.keys(more.volumes))).toEqual(new Set(Object.keys(servers)));

  const own = mkdtempSync(path.join(tmpdir(), 'compose-'));
  const written = composeFiles(own, MAX_DATABASES);
  rmSync(own, { recursive: true });
  const admin = databasesIn(parseEnv(written['migrate.env']!));
  const hosts = SERVICE_NAMES.map((name) => {
    const { POSTGRES_URL } = parseEnv(written[`${name}.env`]!);
    const { hostname } = new URL(POSTGRES_URL!);
    expect([name, new URL(admin[name]).hostname]).toEqual([name, hostname]);
    const shared = merged.services[hostname]!.networks.filter((network) =>
      merged.services[name]!.networks.includes(network),
    );
    expect([name, shared]).not.toEqual([name, []]);
    return hostname;
  });
  expect(new Set(hosts).size).toBe(SERVICE_NAMES.length);
  expect(new Set(Object.keys(merged.services.migrate!.depends_on!))).toEqual(new Set(hosts));
});

test('the users of nats.conf have the rights of the contract and no others', () => {
  const rights = natsRights();
  const lines = files['nats.conf']!.split('\n');
  const quoted = (subjects: readonly string[]) =>
    `{ allow: [${subjects.map((each) => JSON.stringify(each)).join(', ')}] }`;
  const seedOf = (name: Program): string => {
    const { NATS_NKEY_SEED, ENVIRONMENTS } = parseEnv(files[`${name}.env`]!);
    return NATS_NKEY_SEED ?? JSON.parse(ENVIRONMENTS!)[0].nats_nkey_seed;
  };
  for (const name of programNames) {
    const at = lines.findIndex((line) => line.includes(nkeyOf(seedOf(name))));
    expect(lines[at + 1]!.trim()).toBe(`publish: ${quoted(rights[name].publish)}`);
    expect(lines[at + 2]!.trim()).toBe(`subscribe: ${quoted(rights[name].subscribe)}`);
  }
  expect(lines.filter((line) => /allow_responses|no_auth_user/.test(line))).toEqual([]);
});

test('a second `compose:init` keeps every key, also those that a person has entered', () => {
  expect(composeFiles(folder)).toEqual(files);
  const entered = files['synthetic.env']!.replace("KEY=''", "KEY='vendor_test_1'");
  writeFileSync(path.join(folder, 'synthetic.env'), entered);
  expect(composeFiles(folder)).toEqual({ ...files, 'synthetic.env': entered });
});

test('Grafana finds every dashboard where `compose:init` writes it, and may read it', () => {
  expect(compose.services.grafana!.volumes).toContain(
    `${GENERATED}dashboards:/var/lib/grafana/dashboards:ro`,
  );
  expect(yaml('observability/grafana/provisioning/dashboards/quittance.yaml').providers[0].options).toEqual({
    path: '/var/lib/grafana/dashboards',
  });
  for (const { uid, title, rows } of DASHBOARDS) {
    const file = path.join(folder, 'dashboards', `${uid}.json`);
    const { panels, ...found } = JSON.parse(readFileSync(file, 'utf8'));
    expect(found).toMatchObject({ uid, title });
    expect(panels).toHaveLength(rows.length + rows.flatMap((row) => row.panels).length);
    expect(statSync(file).mode & 0o444).toBe(0o444);
  }
});

test('the synthetic payments have a profile of their own, need three values, and reach the gateway', () => {
  const { profiles, command, networks, ...service } = compose.services.synthetic!;
  expect([profiles, command, networks]).toEqual([['synthetic'], ['synthetic'], ['inside']]);
  const variables = variablesOf({ networks, ...service }, 'synthetic');
  const { issues } = syntheticConfig.safeParse(variables).error!;
  expect(issues.map((issue) => issue.path.join('.'))).toEqual([
    'SYNTHETIC_SERVICE_ID',
    'SYNTHETIC_SERVICE_KEY',
    'SYNTHETIC_DELEGATE_KEY',
  ]);
  expect(variables.OTEL_METRICS_EXPORTER).toBe('prometheus');
});

test('Prometheus scrapes every service, and the collector’s pipelines use only what it declares', () => {
  const [scrape] = yaml('observability/prometheus.yaml').scrape_configs;
  // The alarm ProcessGone selects this job.
  expect(scrape.job_name).toBe('quittance');
  expect(new Set(scrape.dns_sd_configs[0].names)).toEqual(new Set([...programNames, 'synthetic']));
  const { service, ...declared } = yaml('observability/collector.yaml');
  for (const pipeline of Object.values<Record<string, string[]>>(service.pipelines))
    for (const [kind, names] of Object.entries(pipeline))
      expect(Object.keys(declared[kind])).toEqual(expect.arrayContaining(names));
  // docs/metrics.md: counters end in _total, and no name contains its unit.
  expect(declared.exporters.prometheus.add_metric_suffixes).toBe(false);
  expect(declared.processors['transform/names'].metric_statements).toEqual([
    expect.stringMatching(/"_total"/),
  ]);
  expect(service.pipelines.metrics.processors).toContain('transform/names');
});
