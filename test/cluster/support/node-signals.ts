import { readFileSync } from 'node:fs';
import { type Kubectl, kubectl } from './kubectl.ts';

/**
 * Signals to the first process of a container, as the kernel or an operator on the node sends them.
 *
 * A process of the container itself cannot send them: the kernel ignores SIGKILL and SIGSTOP to
 * process 1 from the same PID namespace. The same holds for an ephemeral container with `--target`,
 * which joins that namespace. `kubectl delete --grace-period=0 --force` sends SIGTERM first. So a
 * pod with `hostPID` sends them, in a namespace of its own that admits it.
 */
const NAMESPACE = 'quittance-signals';

/** The pod on one node. It may send signals to processes of every user, and nothing else. */
const podOn = (node: string, image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `signals-${node}`, namespace: NAMESPACE },
  spec: {
    nodeName: node,
    hostPID: true,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    // A cordoned node runs it, too.
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'signals',
        image,
        command: ['node', '--eval', 'setInterval(() => {}, 1e9)'],
        securityContext: {
          runAsUser: 0,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'], add: ['KILL'] },
        },
      },
    ],
  },
});

export type NodeSignals = {
  /**
   * Sends a signal to the first process of a pod's first container.
   * @throws KubectlError if the pod does not run
   */
  send: (pod: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>;
  close: () => Promise<void>;
};

/** Sends signals to the pods of `own`'s namespace. Creates a namespace, which `close` deletes. */
export const openNodeSignals = async (own: Kubectl): Promise<NodeSignals> => {
  const signals = kubectl(own.context, NAMESPACE);
  const program = readFileSync(new URL('signal.mjs', import.meta.url), 'utf8');
  const { spec } = await own.json(['get', 'statefulset', 'chain']);
  const image = spec.template.spec.containers[0].image as string;
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
  await signals.apply([namespace], '--server-side');
  const nodes = new Map<string, Promise<string>>();

  const startOn = async (node: string): Promise<string> => {
    const pod = `signals-${node}`;
    await signals.apply([podOn(node, image)], '--server-side');
    await signals.run(['wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=120s']);
    return pod;
  };

  return {
    send: async (pod, signal) => {
      const { spec: victim, status } = await own.json(['get', 'pod', pod]);
      const { containerID } = status.containerStatuses[0] as { containerID: string };
      const node = victim.nodeName as string;
      if (!nodes.has(node)) nodes.set(node, startOn(node));
      const id = containerID.replace(/^.*:\/\//, '');
      await signals.exec(await nodes.get(node)!, [
        ...['node', '--input-type=module', '--eval', program],
        ...[signal, id],
      ]);
    },
    close: async () => {
      await signals.run(['delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=120s']);
    },
  };
};
