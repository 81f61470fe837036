import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { networkOf } from '../deploy/local/stack/networks.ts';
import { programNames } from '../deploy/local/stack/programs.ts';
import { METRICS } from '../shared/lib/telemetry/metrics-catalog.ts';
import { LANED, loadQuery } from '../tools/k8s/load-scaling.ts';
import type { WorkloadName } from '../tools/k8s/workloads.ts';
import { flowsOfCode } from './support/k8s/code-flows.ts';
import { allowedFlows } from './support/k8s/flows.ts';
import { podFindings } from './support/k8s/policies.ts';
import {
  isProduct,
  missing,
  nameOf,
  OVERLAYS,
  podOf,
  type Rendered,
  render,
  root,
  written,
} from './support/k8s/render.ts';
import { formatErrors, typeErrors } from './support/k8s/schema.ts';
import { settingsFindings, unresolved } from './support/k8s/settings.ts';

/**
 * Checks k8s/ against the types of Kubernetes and its operators, the restricted profile, the
 * services' settings and their flows.
 */

const services = programNames as readonly WorkloadName[];

test('k8s/base has a folder for each process and no other', () => {
  const folders = globSync('*/kustomization.yaml', { cwd: path.join(root, 'k8s/base') });
  expect(folders.map(path.dirname).sort()).toEqual([...services, 'common', 'setup'].sort());
});

test.each(['test', 'live', 'single-node'])(
  'overlay %s: the network and its USDC belong together',
  (overlay) => {
    const text = readFileSync(path.join(root, 'k8s/overlays', overlay, 'settings.env'), 'utf8');
    const values = parseEnv(text) as Record<string, string>;
    const { caip2, usdcMint } = networkOf(values.ENVIRONMENT!);
    expect([values.X402_NETWORK, values.USDC_MINT]).toEqual([caip2, usdcMint]);
    expect(`solana:${values.GENESIS_HASH}`.startsWith(caip2)).toBe(true);
    const gateway = parseEnv(readFileSync(path.join(root, 'k8s/overlays/gateway/settings.env'), 'utf8'));
    expect(JSON.parse(gateway.USDC_MINTS!)[values.ENVIRONMENT!]).toBe(usdcMint);
    expect(JSON.parse(gateway.X402_NETWORKS!)[values.ENVIRONMENT!]).toBe(caip2);
  },
);

describe('as written', () => {
  const objects = written();

  test('every object is of its type, without unknown fields', () => {
    expect(objects.length).toBeGreaterThan(60);
    expect(typeErrors(objects)).toEqual([]);
  });

  test('every pod is restricted', () => {
    // Its tag is the overlay's.
    const findings = objects.flatMap(podFindings).filter((line) => !line.endsWith('its image is pinned'));
    expect(findings).toEqual([]);
  });
});

const why = missing();
if (why !== null) console.warn(`k8s: the overlays are skipped: ${why}`);
const rendered = new Map<string, Rendered[]>();
/** Overlays that run beside each other, and the installation that clusterSecrets is asked for. */
const INSTALLATIONS = [
  {
    overlays: ['test', 'live', 'gateway'],
    environments: ['test', 'live'].map((name) => ({ name, namespace: `quittance-${name}` })),
    gatewayNamespace: 'quittance-gateway',
  },
  {
    overlays: ['single-node'],
    environments: [{ name: 'test', namespace: 'quittance' }],
    gatewayNamespace: 'quittance',
  },
  {
    overlays: ['trial'],
    environments: [{ name: 'test', namespace: 'quittance-trial' }],
    gatewayNamespace: 'quittance-trial',
    isTrial: true,
  },
];
const all = (overlays: readonly string[]) => overlays.flatMap((overlay) => rendered.get(overlay)!);

(why === null ? describe : describe.skip)(`rendered${why === null ? '' : `, skipped: ${why}`}`, () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'k8s-'));
    for (const overlay of OVERLAYS) rendered.set(overlay, render(overlay));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('every object is of its type and format, without unknown fields', async () => {
    const objects = all(OVERLAYS);
    console.log(OVERLAYS.map((overlay) => `${overlay}: ${rendered.get(overlay)!.length} objects`).join(', '));
    expect(typeErrors(objects)).toEqual([]);
    expect(await formatErrors(objects)).toEqual([]);
  });

  test.each(OVERLAYS)(
    '%s: every pod is restricted, pinned and limited, in a namespace that enforces it',
    (overlay) => {
      const objects = rendered.get(overlay)!;
      expect(objects.flatMap(podFindings)).toEqual([]);
      const spaces = objects.filter(({ kind }) => kind === 'Namespace');
      expect(spaces.map(({ metadata }) => metadata.labels['pod-security.kubernetes.io/enforce'])).toEqual([
        'restricted',
      ]);
      for (const { kind, metadata } of objects)
        if (kind !== 'Namespace') expect(metadata.namespace).toBe(spaces[0]!.metadata.name);
      for (const { kind, automountServiceAccountToken } of objects)
        if (kind === 'ServiceAccount') expect(automountServiceAccountToken).toBe(false);
    },
  );

  test.each(OVERLAYS)(
    '%s: each container of the image runs one of its services or jobs, as its user',
    (overlay) => {
      // The jobs of the image are shared/jobs.
      const jobs = globSync('shared/jobs/*.ts', { cwd: root }).map((file) => path.basename(file, '.ts'));
      for (const object of rendered.get(overlay)!)
        for (const { name, image, args } of podOf(object)?.spec.containers ?? []) {
          if (!isProduct(image)) continue;
          expect(args).toEqual([name]);
          expect(['Job', 'CronJob'].includes(object.kind) ? jobs : services).toContain(name);
          expect(podOf(object).spec.securityContext.runAsUser).toBe(10_001);
        }
    },
  );

  test.each(OVERLAYS)('%s: names are unique, and every reference exists', (overlay) => {
    const objects = rendered.get(overlay)!;
    expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
    expect(unresolved(objects)).toEqual([]);
  });

  test.each(INSTALLATIONS)(
    '$overlays: every process gets the settings that it needs, and none that it does not have',
    async (installation) => {
      expect(await settingsFindings(installation, all(installation.overlays), folder)).toEqual([]);
    },
  );

  test.each(INSTALLATIONS)(
    '$overlays: every flow of the code has its network policy, and the reverse',
    ({ overlays }) => {
      const objects = all(overlays);
      expect([...allowedFlows(objects)].sort()).toEqual([...flowsOfCode(objects)].sort());
    },
  );

  test.each(['test', 'live', 'single-node', 'trial'])(
    '%s: everything that the jobs of a release read is applied with them',
    (overlay) => {
      const objects = rendered.get(overlay)!;
      const phase = objects.filter(({ metadata }) => metadata.labels?.['quittance.dev/phase'] === 'setup');
      const names = new Set(phase.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
      const jobs = ['migrate', 'setup-bus'];
      for (const job of jobs) expect(names).toContain(`Job/${job}`);
      const read = jobs.flatMap((job) => {
        const { serviceAccountName, containers } = podOf(
          phase.find(({ metadata }) => metadata.name === job)!,
        ).spec;
        const env: { valueFrom?: { configMapKeyRef?: { name: string } } }[] = containers[0].env;
        const maps = env.flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef?.name ?? []);
        return [
          `ServiceAccount/${serviceAccountName}`,
          `NetworkPolicy/${job}`,
          ...maps.map((name) => `ConfigMap/${name}`),
        ];
      });
      expect(read.filter((name) => name.startsWith('ConfigMap/settings-')).length).toBeGreaterThan(0);
      expect(read.filter((name) => !names.has(name))).toEqual([]);
      // Nothing that runs in a rollout is among them.
      expect(phase.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')).toEqual([]);
    },
  );

  test.each(['test', 'live', 'single-node', 'trial'])(
    '%s: the bus stops by a signal to the process of its own file, or without one',
    (overlay) => {
      const objects = rendered.get(overlay)!;
      const nats = objects.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'nats')!;
      const conf = objects.find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('nats-'),
      )!;
      const file = /^pid_file: "(.+)"$/m.exec(conf.data['nats.conf'])?.[1];
      const command: string[] = podOf(nats).spec.containers[0].lifecycle?.preStop.exec.command ?? [];
      expect(command).toEqual(file === undefined ? [] : ['nats-server', '--signal', `ldm=${file}`]);
      expect(file === undefined).toBe(nats.spec.replicas === 1);
    },
  );

  test.each(OVERLAYS)(
    '%s: the database accepts the connections of all replicas, and the bus has the replicas that its streams need',
    (overlay) => {
      const objects = rendered.get(overlay)!;
      const find = (kind: string, name: string) =>
        objects.find((each) => each.kind === kind && each.metadata.name === name);
      const settings = objects.find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('settings-'),
      )!;
      const nats = find('StatefulSet', 'nats');
      expect(settings.data.NATS_REPLICAS ?? '0').toBe(String(nats?.spec.replicas ?? 0));
      if (overlay === 'gateway') return;
      // A rolling update starts one more replica of each service. As many connections again are
      // left for the job and for operators.
      const replicas = services
        .filter((name) => name !== 'gateway')
        .map(
          (name) =>
            (find('HorizontalPodAutoscaler', name)?.spec.maxReplicas ??
              find('ScaledObject', name)?.spec.maxReplicaCount ??
              1) + 1,
        );
      const pool = Number(settings.data.POSTGRES_POOL ?? 10);
      const cluster = find('Cluster', 'postgres');
      const limit = cluster
        ? Number(cluster.spec.postgresql.parameters.max_connections)
        : Number(
            /max_connections=(\d+)/.exec(
              find('StatefulSet', 'postgres')!.spec.template.spec.containers[0].args.join(' '),
            )![1],
          );
      expect(replicas.reduce((sum, each) => sum + each, 0) * pool + 10).toBeLessThanOrEqual(limit);
    },
  );

  test('the triggers of KEDA query metrics that exist, of their environment', () => {
    for (const overlay of ['test', 'live']) {
      const scaled = rendered.get(overlay)!.filter(({ kind }) => kind === 'ScaledObject');
      expect(scaled.map(({ metadata }) => metadata.name).sort()).toEqual([...LANED].sort());
      for (const { metadata, spec } of scaled) {
        const [trigger, ...others] = spec.triggers;
        expect(others).toEqual([]);
        expect(trigger.metadata.query).toBe(loadQuery(metadata.name, overlay));
        for (const [name] of trigger.metadata.query.matchAll(/quittance_\w+/g))
          expect(Object.keys(METRICS)).toContain(name);
        // No other autoscaler has the same target.
        const own = rendered
          .get(overlay)!
          .filter(
            ({ kind, spec: { scaleTargetRef } = {} as never }) =>
              kind === 'HorizontalPodAutoscaler' && scaleTargetRef.name === metadata.name,
          );
        expect(own).toEqual([]);
      }
    }
  });

  test('these tests can fail: each deliberate fault is found', async () => {
    const before = new Set(all(INSTALLATIONS[0]!.overlays).map((each) => JSON.stringify(each)));
    const broken = async (change: (objects: Rendered[]) => void) => {
      const objects = structuredClone(all(INSTALLATIONS[0]!.overlays));
      change(objects);
      const flows = allowedFlows(objects);
      const wanted = flowsOfCode(objects);
      const changed = objects.filter((each) => !before.has(JSON.stringify(each)));
      return [
        ...typeErrors(changed),
        ...(await formatErrors(changed)),
        ...objects.flatMap(podFindings),
        ...unresolved(objects),
        ...(await settingsFindings(INSTALLATIONS[0]!, objects, folder)),
        ...[...wanted].filter((flow) => !flows.has(flow)).map((flow) => `no policy: ${flow}`),
        ...[...flows].filter((flow) => !wanted.has(flow)).map((flow) => `no code: ${flow}`),
      ];
    };
    const quote = (objects: Rendered[], kind = 'Deployment') =>
      objects.find((each) => each.kind === kind && each.metadata.name === 'quote')!;
    const container = (objects: Rendered[]) => quote(objects).spec.template.spec.containers[0];
    const remove = (objects: Rendered[], kind: string, name: string) =>
      objects.splice(
        objects.findIndex((each) => each.kind === kind && each.metadata.name.startsWith(name)),
        1,
      );

    for (const { what, change, found } of [
      { what: 'nothing', change: () => {}, found: null },
      {
        what: 'an unknown field',
        change: (o: Rendered[]) => (container(o).resorces = {}),
        found: /resorces"' does not exist/,
      },
      {
        what: 'a wrong type',
        change: (o: Rendered[]) => (container(o).ports[0].containerPort = '80'),
        found: /not assignable to type 'number'/,
      },
      {
        what: 'a wrong format',
        change: (o: Rendered[]) => (quote(o, 'HorizontalPodAutoscaler').spec.maxReplicas = 1.5),
        found: /maxReplicas/,
      },
      {
        what: 'root',
        change: (o: Rendered[]) => (quote(o).spec.template.spec.securityContext.runAsUser = 0),
        found: /not run as root/,
      },
      {
        what: 'a token',
        change: (o: Rendered[]) => delete quote(o).spec.template.spec.automountServiceAccountToken,
        found: /no API token/,
      },
      {
        what: 'a floating tag',
        change: (o: Rendered[]) => (container(o).image = 'quittance:latest'),
        found: /image is pinned/,
      },
      {
        what: 'no limit',
        change: (o: Rendered[]) => delete container(o).resources.limits.memory,
        found: /sets memory in its limits/,
      },
      {
        what: 'a writable root',
        change: (o: Rendered[]) => delete container(o).securityContext.readOnlyRootFilesystem,
        found: /read-only/,
      },
      {
        what: 'too little time to stop',
        change: (o: Rendered[]) => (quote(o).spec.template.spec.terminationGracePeriodSeconds = 30),
        found: /time to stop/,
      },
      {
        what: 'a missing setting',
        change: (o: Rendered[]) =>
          container(o).env.splice(
            container(o).env.findIndex(({ name }: { name: string }) => name === 'USDC_MINT'),
            1,
          ),
        found: /quote.*USDC_MINT/,
      },
      {
        what: 'an unknown setting',
        change: (o: Rendered[]) => container(o).env.push({ name: 'USDC_MINTS', value: 'x' }),
        found: /quote: USDC_MINTS is not one of its settings/,
      },
      {
        what: 'a setting of the wrong kind',
        change: (o: Rendered[]) =>
          (container(o).env.find(({ name }: { name: string }) => name === 'HTTP_PORT').value = 'http'),
        found: /quote.*HTTP_PORT/,
      },
      {
        what: 'a missing ConfigMap',
        change: (o: Rendered[]) => remove(o, 'ConfigMap', 'settings-'),
        found: /settings-/,
      },
      {
        what: 'no default denial',
        change: (o: Rendered[]) => remove(o, 'NetworkPolicy', 'default-deny'),
        found: /no code: /,
      },
      {
        what: 'a missing policy',
        change: (o: Rendered[]) => remove(o, 'NetworkPolicy', 'chain-submitter'),
        found: /no policy: quittance-test\/chain-submitter → internet:443/,
      },
      {
        what: 'an additional flow',
        change: (o: Rendered[]) =>
          quote(o, 'NetworkPolicy').spec.egress.push({
            to: [{ ipBlock: { cidr: '0.0.0.0/0' } }],
            ports: [{ protocol: 'TCP', port: 443 }],
          }),
        found: /no code: quittance-test\/quote → metadata:443/,
      },
    ]) {
      const findings = (await broken((objects) => void change(objects))).join('\n');
      if (found === null) expect({ what, findings }).toEqual({ what, findings: '' });
      else expect({ what, findings }).toEqual({ what, findings: expect.stringMatching(found) });
    }
  });
});
