import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OVERLAYS, render, renderWith } from '../support/k8s/render.ts';
import { type Added, addDefinitions, addNamespaces } from './support/definitions.ts';
import { type ClusterObject, type Kubectl, kubectl } from './support/kubectl.ts';

/**
 * Proves that the API server admits every object of every overlay, with strict validation of
 * fields, without a warning and with the profile `restricted` enforced; and that it refuses what it
 * should.
 * Nothing is stored: the applies are dry runs of the server.
 */
const context = process.env.CLUSTER_CONTEXT ?? '';
const TRIAL = 'quittance-trial';
const DRY_RUN = ['--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict'];
const REFUSE_WARNINGS = '--warnings-as-errors';

/** The overlay `test` with NACK in place of the job for the bus. */
const NACK = 'test with NACK';
const rendered = new Map<string, ClusterObject[]>();
const added: Added[] = [];
const own: Kubectl = kubectl(context, TRIAL);

const namespaceOf = (objects: readonly ClusterObject[]): string =>
  objects.find(({ kind }) => kind === 'Namespace')!.metadata.name;

const dryRun = (overlay: string, objects: readonly ClusterObject[], ...options: string[]): Promise<string> =>
  kubectl(context, namespaceOf(rendered.get(overlay)!)).apply(objects, ...DRY_RUN, ...options);

const named = (overlay: string, kind: string, name: string): ClusterObject =>
  structuredClone(
    rendered.get(overlay)!.find((each) => each.kind === kind && each.metadata.name.startsWith(name))!,
  );

beforeAll(async () => {
  for (const overlay of OVERLAYS) rendered.set(overlay, render(overlay));
  rendered.set(NACK, renderWith('test', 'quittance-test', ['nack']));
  const all = [...rendered.values()].flat();
  added.push(await addDefinitions(own, all));
  const unique = new Map(
    all.filter(({ kind }) => kind === 'Namespace').map((each) => [each.metadata.name, each]),
  );
  added.push(await addNamespaces(own, [...unique.values()]));
  const [definitions] = added;
  console.log(
    definitions!.names.length === 0
      ? 'custom resources: the definitions are those of the cluster’s operators'
      : `custom resources: made of types, without defaults and rules in CEL: ${definitions!.names.join(', ')}`,
  );
});
afterAll(async () => {
  await Promise.all(added.map(({ remove }) => remove()));
});

describe('is admitted', () => {
  test.each([...OVERLAYS, NACK])('every object of %s, without a warning', async (overlay) => {
    // The trial runs, and a job cannot be changed: its jobs are admitted under another name.
    const objects = rendered
      .get(overlay)!
      .map((each) =>
        each.kind === 'Job'
          ? { ...each, metadata: { ...each.metadata, name: `${each.metadata.name}-admitted` } }
          : each,
      );
    const answers = (await dryRun(overlay, objects, REFUSE_WARNINGS)).trim().split('\n');
    expect(answers).toHaveLength(objects.length);
    expect(answers.filter((line) => !line.endsWith('(server dry run)'))).toEqual([]);
  });

  test('the labels of each namespace that enforce the profile restricted', async () => {
    const names = new Set([...rendered.values()].map(namespaceOf));
    for (const name of names) {
      const { metadata } = await own.json(['get', 'namespace', name]);
      expect(metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
    }
  });
});

describe('is refused', () => {
  // biome-ignore lint/suspicious/noExplicitAny: the specification of a pod
  type Spec = Record<string, any>;
  test.each<[string, (spec: Spec) => unknown, RegExp]>([
    [
      'privileged',
      ({ containers }) =>
        Object.assign(containers[0].securityContext, { privileged: true, allowPrivilegeEscalation: true }),
      /privileged/,
    ],
    ['as root', (spec) => (spec.securityContext.runAsUser = 0), /runAsUser=0/],
    ['that may be root', (spec) => delete spec.securityContext.runAsNonRoot, /runAsNonRoot/],
    ['in its node’s network', (spec) => (spec.hostNetwork = true), /host namespaces/],
    [
      'with a folder of its node',
      (spec) => (spec.volumes = [{ name: 'x', hostPath: { path: '/' } }]),
      /hostPath/,
    ],
    [
      'with capabilities',
      ({ containers }) => delete containers[0].securityContext.capabilities,
      /unrestricted capabilities/,
    ],
    ['without a filter of system calls', (spec) => delete spec.securityContext.seccompProfile, /seccomp/],
  ])('a pod %s, while the same pod without it is admitted', async (_what, change, reason) => {
    const { spec } = named('trial', 'Deployment', 'quote').spec.template as { spec: Spec };
    const pod = (): ClusterObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'refused', namespace: TRIAL },
      spec: structuredClone(spec),
    });
    const changed = pod();
    change(changed.spec);
    expect(await dryRun('trial', [pod()], REFUSE_WARNINGS)).toMatch(/server dry run/);
    const refused = dryRun('trial', [changed]);
    await expect(refused).rejects.toThrow(/violates PodSecurity "restricted/);
    await expect(refused).rejects.toThrow(reason);
  });

  test.each([
    ['test', 'Deployment', 'quote', (spec: Spec) => (spec.replica = 2)],
    ['test', 'ScaledObject', 'chain-submitter', (spec: Spec) => (spec.maxReplicas = 6)],
    ['test', 'Cluster', 'postgres', (spec: Spec) => (spec.bootstrap.initdb.databse = 'x')],
    ['test', 'ExternalSecret', 'quote', (spec: Spec) => (spec.dataFrom[0].extracts = {})],
    ['gateway', 'HTTPRoute', '', (spec: Spec) => (spec.rules[0].backendRef = {})],
    ['gateway', 'PrometheusRule', '', (spec: Spec) => (spec.groups[0].rules[0].expression = 'x')],
    ['test', 'PodMonitor', '', (spec: Spec) => (spec.podMetricsEndpoint = [])],
    [NACK, 'Stream', '', (spec: Spec) => (spec.maxByte = 1)],
    [NACK, 'Consumer', '', (spec: Spec) => (spec.filterSubjct = 'x')],
  ])('%s: a field that %s/%s does not have', async (overlay, kind, name, change) => {
    const object = named(overlay, kind, name);
    expect(await dryRun(overlay, [object])).toMatch(/server dry run/);
    change(object.spec);
    await expect(dryRun(overlay, [object])).rejects.toThrow(
      /field not declared in schema|unknown field|strict decoding error/,
    );
  });

  test('a value of the wrong type in a custom resource', async () => {
    const object = named('test', 'ScaledObject', 'chain-submitter');
    object.spec.maxReplicaCount = 'six';
    await expect(dryRun('test', [object])).rejects.toThrow(/maxReplicaCount/);
  });
});
