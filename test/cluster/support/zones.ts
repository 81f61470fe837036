import { type ClusterObject, type Kubectl, KubectlError } from './kubectl.ts';

/**
 * Nodes that exist only in the API server. The scheduler places pods on them, and no kubelet starts
 * these pods. So a cluster of one node shows how pods are spread over nodes and zones.
 */
export type PaperNodes = {
  /** The label that pods must select, so that no pod of another installation comes here. */
  selector: Record<string, string>;
  /** Deletes nodes with everything on them, as the loss of a machine does. */
  lose: (names: readonly string[]) => Promise<void>;
  zoneOf: (node: string) => string;
  names: () => string[];
  close: () => Promise<void>;
};

const LABEL = 'quittance.dev/paper-node';
/** The node controller gives a node up after 40 s without a heartbeat. */
const HEARTBEAT_MS = 10_000;
const CAPACITY = { cpu: '4', memory: '8Gi', pods: '110' };

const nodeOf = (name: string, zone: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    labels: { [LABEL]: '', 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone },
  },
});

const heartbeat = (name: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: 'kube-node-lease', labels: { [LABEL]: '' } },
  spec: {
    holderIdentity: name,
    leaseDurationSeconds: 40,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  },
});

/** The controller of an object that is being deleted may be faster. */
const unlessMissing = (error: unknown): void => {
  if (!(error instanceof KubectlError && error.stderr.includes('NotFound'))) throw error;
};

/** Adds nodes to the cluster. @param zones the zone of each node by the node's name */
export const addPaperNodes = async (
  own: Kubectl,
  zones: Readonly<Record<string, string>>,
): Promise<PaperNodes> => {
  const present = new Set(Object.keys(zones));
  const renew = () =>
    own.apply(
      [...present].map(heartbeat),
      '--namespace',
      'kube-node-lease',
      '--server-side',
      '--force-conflicts',
    );
  const lose = async (names: readonly string[]): Promise<void> => {
    for (const name of names) present.delete(name);
    await own.run(['delete', 'node', ...names, '--ignore-not-found']);
    const orphans = (await own.list('pods', '--all-namespaces')).filter(({ spec }) =>
      names.includes(spec.nodeName),
    );
    for (const { metadata } of orphans) {
      const pod = ['delete', 'pod', metadata.name, '--namespace', metadata.namespace];
      await own.run([...pod, '--force', '--grace-period=0', '--wait=false']).catch(unlessMissing);
    }
  };

  await own.apply(
    Object.entries(zones).map(([name, zone]) => nodeOf(name, zone)),
    '--server-side',
  );
  await renew();
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Paper', message: '' }];
  for (const name of present) {
    const status = { conditions, capacity: CAPACITY, allocatable: CAPACITY };
    const patch = JSON.stringify({ status });
    await own.run(['patch', 'node', name, '--subresource=status', '--type=merge', '--patch', patch]);
  }
  const timer = setInterval(() => void renew().catch(() => {}), HEARTBEAT_MS);
  return {
    selector: { [LABEL]: '' },
    lose,
    zoneOf: (node) => zones[node]!,
    names: () => [...present],
    close: async () => {
      clearInterval(timer);
      if (present.size > 0) await lose([...present]);
      await own.run(['delete', 'lease', '--namespace', 'kube-node-lease', '--selector', LABEL]);
    },
  };
};

/** The pods of a workload that the scheduler has placed. */
export const placed = (pods: readonly ClusterObject[], workload: string): ClusterObject[] =>
  pods.filter(
    ({ metadata, spec }) =>
      metadata.labels?.['app.kubernetes.io/name'] === workload &&
      metadata.deletionTimestamp === undefined &&
      spec.nodeName !== undefined,
  );
