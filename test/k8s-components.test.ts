import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test as plainTest } from '@jest/globals';
import { parse } from 'yaml';
import { durables, STREAMS } from '../shared/bus/topology.ts';
import { SERVICE_NAMES } from '../shared/contract/service.ts';
import { ADMIN_SETTING, ownSetting } from '../shared/db/databases.ts';
import { plainConnections } from '../shared/lib/transport.ts';
import { syntheticConfig } from '../shared/synthetic/config.ts';
import { clusterSecrets } from '../tools/k8s/secrets.ts';
import { flowsOfCode } from './support/k8s/code-flows.ts';
import { allowedFlows } from './support/k8s/flows.ts';
import { podFindings } from './support/k8s/policies.ts';
import { isProduct, missing, nameOf, podOf, render, renderWith, root } from './support/k8s/render.ts';
import { typeErrors } from './support/k8s/schema.ts';
import { unresolved } from './support/k8s/settings.ts';

/** Checks the components of k8s/ that an overlay of an installation adds. */

const why = missing();
if (why !== null) console.warn(`k8s: the components are skipped: ${why}`);
const test = why === null ? plainTest : plainTest.skip;

type Reference = { name: string; key: string };
type EnvVar = {
  name: string;
  value?: string;
  valueFrom?: { configMapKeyRef?: Reference; secretKeyRef?: Reference };
};
/** The keys of the Secret that an operator creates (docs/kubernetes.md, Synthetic payments). */
const SECRET = ['SYNTHETIC_SERVICE_ID', 'SYNTHETIC_SERVICE_KEY', 'SYNTHETIC_DELEGATE_KEY'];

test('with NACK there is no job for the bus, and a resource for each of its streams and consumers', () => {
  const objects = renderWith('test', 'quittance-test', ['nack']);
  const ofKind = (wanted: string) => objects.filter(({ kind }) => kind === wanted);
  expect(ofKind('Job').map(({ metadata }) => metadata.name)).toEqual(['migrate']);
  expect(new Set(ofKind('Stream').map(({ spec }) => spec.name))).toEqual(new Set(Object.values(STREAMS)));
  const wanted = durables().map(({ stream, durable, filter }) => [stream, durable, filter]);
  const given = ofKind('Consumer').map(({ spec }) => [spec.streamName, spec.durableName, spec.filterSubject]);
  expect(new Set(given)).toEqual(new Set(wanted));
  expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
  expect(allowedFlows(objects)).toContain('nack-system → quittance-test/nats:4222');
});

test('live archives its database, and cannot be applied before the archive has a place', () => {
  const objects = render('live');
  const find = (wanted: string) => objects.filter(({ kind }) => kind === wanted);
  const [store] = find('ObjectStore');
  const plugin = 'barman-cloud.cloudnative-pg.io';
  expect(store!.spec).toMatchObject({
    retentionPolicy: expect.stringMatching(/^\d+d$/),
    configuration: {
      // The plugin's definition has a minLength of 1.
      destinationPath: '',
      data: { encryption: 'aws:kms' },
      wal: { encryption: 'aws:kms' },
    },
  });
  for (const { spec } of find('Cluster'))
    expect(spec.plugins).toEqual([
      { name: plugin, isWALArchiver: true, parameters: { barmanObjectName: store!.metadata.name } },
    ]);
  expect(find('ScheduledBackup').map(({ spec }) => [spec.cluster.name, spec.method])).toEqual(
    find('Cluster').map(({ metadata }) => [metadata.name, 'plugin']),
  );
});

test('with the component backup, its jobs reach the database and two of them the chain, and nothing else', () => {
  const objects = renderWith('single-node', 'quittance', ['backup', 'release']);
  const jobs = objects.filter(({ kind }) => kind === 'CronJob');
  expect(jobs.map(({ metadata, spec }) => [metadata.name, spec.suspend === true])).toEqual([
    ['backup', false],
    ['drill', false],
    ['restore', true],
  ]);
  expect(jobs.flatMap(podFindings)).toEqual([]);
  expect([...allowedFlows(objects)].sort()).toEqual([...flowsOfCode(objects)].sort());
});

test('with the component synthetic, a job with metrics calls the public address of the gateway and nothing else', () => {
  const objects = renderWith('single-node', 'quittance', ['monitoring', 'synthetic', 'release']);
  const job = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'synthetic')!;
  expect(typeErrors(objects)).toEqual([]);
  expect(podFindings(job)).toEqual([]);
  expect(unresolved(objects)).toEqual([]);
  expect([...allowedFlows(objects)].sort()).toEqual([...flowsOfCode(objects)].sort());
  // What its Secret must have, and nothing else, is without a value here.
  const settings = objects.find(({ metadata }) => metadata.name.startsWith('settings-'))!.data;
  const { env, ports } = podOf(job).spec.containers[0];
  const given = Object.fromEntries(
    (env as EnvVar[]).flatMap(({ name, value, valueFrom }) => {
      const found = value ?? settings[valueFrom?.configMapKeyRef?.key ?? ''];
      return found === undefined ? [] : [[name, found]];
    }),
  );
  const issues = syntheticConfig.safeParse(given).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toEqual(SECRET);
  expect(
    (env as EnvVar[]).flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef?.name === 'synthetic' ? [valueFrom.secretKeyRef.key] : [],
    ),
  ).toEqual(SECRET);
  // The monitor of the services selects it, and the alarm reads a quarter of an hour.
  const { selector, podMetricsEndpoints } = objects.find(({ kind }) => kind === 'PodMonitor')!.spec;
  expect(podOf(job).metadata.labels).toMatchObject(selector.matchLabels);
  expect(ports.map(({ name }: { name: string }) => name)).toContain(podMetricsEndpoints[0].port);
  expect(Number(given.SYNTHETIC_EVERY_SECONDS) * 2).toBeLessThan(15 * 60);
});

test('in live every connection inside is encrypted, and each process has the authority of the servers', () => {
  const [environment, gateway] = [renderWith('live', 'quittance-live', ['backup']), render('gateway')];
  for (const objects of [environment, gateway]) {
    const { data: settings } = objects.find(({ metadata }) => metadata.name.startsWith('settings-'))!;
    expect(plainConnections({ ENVIRONMENT: 'live', ...settings })).toEqual([]);
    const ours = objects.filter((object) =>
      podOf(object)?.spec.containers.some(({ image }: { image: string }) => isProduct(image)),
    );
    expect(ours.length).toBeGreaterThan(0);
    for (const object of ours) {
      const { containers, volumes } = podOf(object).spec;
      const mount = containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'server-ca');
      expect([nameOf(object), path.dirname(settings.TLS_CA_FILE)]).toEqual([nameOf(object), mount.mountPath]);
      expect(volumes).toContainEqual({
        name: 'server-ca',
        configMap: expect.objectContaining({ name: 'server-ca' }),
      });
      const env = containers[0].env.map(({ name }: { name: string }) => name);
      expect([nameOf(object), env]).toEqual([nameOf(object), expect.arrayContaining(['TLS_CA_FILE'])]);
    }
  }
  const conf = environment.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('nats-'),
  );
  expect(conf?.data['nats.conf'].match(/^ *tls \{ cert_file: "\/etc\/nats-tls\/tls\.crt"/gm)).toHaveLength(2);
  const folder = mkdtempSync(path.join(tmpdir(), 'k8s-secrets-'));
  const secrets = clusterSecrets({
    folder,
    environments: [
      { name: 'live', namespace: 'n', rpcUrls: ['https://rpc.example'], smtpUrl: 'smtps://mail' },
    ],
    gatewayNamespace: 'g',
  }) as unknown as { kind: string; metadata: { name: string }; stringData: Record<string, string> }[];
  rmSync(folder, { recursive: true });
  const found = secrets.filter(({ kind }) => kind === 'Secret').map(({ stringData }) => stringData);
  for (const values of found) expect(plainConnections({ ...values, ENVIRONMENT: 'live' })).toEqual([]);
  expect(found.filter(({ POSTGRES_URL }) => POSTGRES_URL !== undefined)).toHaveLength(SERVICE_NAMES.length);
  const { ENVIRONMENTS = '' } = found.find((values) => values.ENVIRONMENTS !== undefined)!;
  expect(JSON.parse(ENVIRONMENTS)[0].nats_url).toBe('tls://nats.n.svc:4222');
  const redis = gateway.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'redis')!;
  expect(podOf(redis).spec.containers[0].command.join(' ')).toMatch(/--port 0 --tls-port 6379 /);
});

test('with a Postgres per service each has three instances, its owner migrates it, and its URL is in the Secret', async () => {
  const patches = parse(
    readFileSync(path.join(root, 'k8s/overlays/live/kustomization.yaml'), 'utf8'),
  ).patches;
  const ofClusters = patches.filter(({ target }: { target: { kind: string } }) => target.kind === 'Cluster');
  const objects = renderWith('live', 'quittance-live', ['postgres-per-service'], ofClusters);
  expect(typeErrors(objects)).toEqual([]);
  expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
  const clusters = objects.filter(({ kind }) => kind === 'Cluster').map(({ metadata }) => metadata.name);
  // The common one stays until its data have moved.
  expect(new Set(clusters)).toEqual(
    new Set(['postgres', ...SERVICE_NAMES.map((name) => `postgres-${name}`)]),
  );
  for (const { spec } of objects.filter(({ kind }) => kind === 'Cluster')) {
    expect([spec.instances, spec.bootstrap.initdb.database]).toEqual([3, 'quittance_live']);
    expect(spec.postgresql.synchronous).toMatchObject({ number: 1, dataDurability: 'required' });
  }
  expect([...allowedFlows(objects)].sort()).toEqual([...flowsOfCode(objects)].sort());

  const migrate = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name === 'migrate')!;
  const given = (podOf(migrate).spec.containers[0].env as EnvVar[]).map(({ name, valueFrom }) => [
    name,
    valueFrom?.secretKeyRef,
  ]);
  const admin = given.filter(([name]) => String(name).startsWith(ADMIN_SETTING));
  expect(admin).toEqual(
    SERVICE_NAMES.map((service) => [
      ownSetting(ADMIN_SETTING, service),
      { name: `postgres-${service}-app`, key: 'uri' },
    ]),
  );
  expect(given).toContainEqual(['DATABASE_PASSWORDS', expect.anything()]);

  const folder = mkdtempSync(path.join(tmpdir(), 'k8s-secrets-'));
  const secrets = clusterSecrets({
    folder,
    environments: [
      {
        name: 'live',
        namespace: 'n',
        rpcUrls: ['https://rpc.example'],
        smtpUrl: 'smtps://m',
        hasOwnDatabases: true,
      },
    ],
    gatewayNamespace: 'g',
  }) as unknown as { metadata: { name: string }; stringData?: Record<string, string> }[];
  rmSync(folder, { recursive: true });
  for (const service of SERVICE_NAMES) {
    const { POSTGRES_URL = '' } = secrets.find(
      ({ metadata, stringData }) => metadata.name === service && stringData !== undefined,
    )!.stringData!;
    expect(new URL(POSTGRES_URL).hostname).toBe(`postgres-${service}-rw`);
  }
});
