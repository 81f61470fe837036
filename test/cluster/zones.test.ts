import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { programNames } from '../../deploy/local/stack/programs.ts';
import { waitFor } from '../support/base/wait.ts';
import { render } from '../support/k8s/render.ts';
import { type ClusterObject, type Kubectl, kubectl } from './support/kubectl.ts';
import { addPaperNodes, type PaperNodes, placed } from './support/zones.ts';

/**
 * Proves how the real scheduler and the real autoscalers spread an environment over nodes and
 * zones, and how they replace what a lost zone held. The nodes have no kubelet, so no pod starts.
 */
const NAMESPACE = 'quittance-zones';
const ZONES = {
  'paper-a1': 'a',
  'paper-a2': 'a',
  'paper-b1': 'b',
  'paper-b2': 'b',
  'paper-c1': 'c',
  'paper-c2': 'c',
};
const SCHEDULED = ['Deployment', 'StatefulSet', 'HorizontalPodAutoscaler', 'ServiceAccount'];
const services = programNames.filter((name) => name !== 'gateway');
const PLACED_WITHIN_MS = 120_000;

let own: Kubectl;
let nodes: PaperNodes;

/** An object of the overlay, for the paper nodes only. Its volumes do not belong to a node. */
const onPaper = (object: ClusterObject): ClusterObject => {
  const copy = structuredClone(object);
  copy.metadata.namespace = NAMESPACE;
  const pod = copy.spec?.template?.spec;
  if (pod !== undefined) pod.nodeSelector = nodes.selector;
  for (const { metadata } of copy.spec?.volumeClaimTemplates ?? [])
    pod.volumes.push({ name: metadata.name, emptyDir: {} });
  if (copy.kind === 'StatefulSet') delete copy.spec.volumeClaimTemplates;
  return copy;
};

const zonesOf = (pods: readonly ClusterObject[]): string[] =>
  pods.map(({ spec }) => nodes.zoneOf(spec.nodeName)).sort();
const nodesOf = (pods: readonly ClusterObject[]): Set<string> =>
  new Set(pods.map(({ spec }) => spec.nodeName));

/** Waits until two pods of each service and this many servers of NATS are placed. */
const allPlaced = (servers: number): Promise<ClusterObject[]> =>
  waitFor(
    () => own.list('pods'),
    (pods) =>
      services.every((name) => placed(pods, name).length >= 2) && placed(pods, 'nats').length >= servers,
    PLACED_WITHIN_MS,
    500,
  );

beforeAll(async () => {
  own = kubectl(process.env.CLUSTER_CONTEXT!, NAMESPACE);
  nodes = await addPaperNodes(own, ZONES);
  await own.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
  const objects = render('test').filter(({ kind }) => SCHEDULED.includes(kind));
  await own.apply(objects.map(onPaper), '--server-side');
  // KEDA's autoscaler, which starts it twice, is not in every cluster.
  await own.run(['scale', 'deployment/chain-submitter', '--replicas=2']);
});
afterAll(async () => {
  await nodes?.close();
  await own?.run(['delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=120s']);
});

test('replicas of a service are in two zones, and the servers of NATS in three', async () => {
  const pods = await allPlaced(3);
  for (const name of services) expect([name, new Set(zonesOf(placed(pods, name))).size]).toEqual([name, 2]);
  expect(zonesOf(placed(pods, 'nats'))).toEqual(['a', 'b', 'c']);
});

test('after the loss of a zone, every service has two replicas in the two other zones', async () => {
  await nodes.lose(nodes.names().filter((name) => nodes.zoneOf(name) === 'b'));
  const pods = await allPlaced(3);
  for (const name of services) expect([name, zonesOf(placed(pods, name))]).toEqual([name, ['a', 'c']]);
  expect(nodesOf(placed(pods, 'nats')).size).toBe(3);
});

test('on two nodes, the third server of NATS waits, and the services run', async () => {
  await nodes.lose(['paper-a2', 'paper-c2']);
  const pods = await allPlaced(2);
  expect(nodesOf(placed(pods, 'nats')).size).toBe(placed(pods, 'nats').length);
  const waiting = await waitFor(
    () => own.list('pods', '--selector', 'app.kubernetes.io/name=nats', '--field-selector', 'spec.nodeName='),
    (unplaced) => unplaced.length === 1 && unplaced[0]!.status.conditions !== undefined,
    PLACED_WITHIN_MS,
    500,
  );
  expect(waiting[0]!.status.conditions[0].message).toContain('anti-affinity');
  for (const name of services) expect([name, zonesOf(placed(pods, name))]).toEqual([name, ['a', 'c']]);
});
