import { readFileSync } from 'node:fs';
import type { Kubectl } from './kubectl.ts';

/** The Services that tests call, by their names, with their ports. */
const TARGETS = { gateway: 3000, mail: 8025, chain: 8899, 'postgres-rw': 5432 } as const;
type Target = keyof typeof TARGETS;

const names = Object.keys(TARGETS) as Target[];
const labels = { 'app.kubernetes.io/name': 'edge' };
const user = { runAsNonRoot: true, runAsUser: 10_001, runAsGroup: 10_001 };

/**
 * The objects of a pod that runs a program of this folder. It needs no image but that of the local
 * chain.
 * @param port answers as soon as the program runs
 */
export const programPod = (
  name: string,
  { image, file, port, env }: { image: string; file: string; port: number; env: Record<string, string> },
): object => {
  const labels = { 'app.kubernetes.io/name': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      selector: { matchLabels: labels },
      // Two pods at a time would be of no use: a client's port is forwarded to one of them.
      strategy: { type: 'Recreate' },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 5,
          securityContext: { ...user, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name,
              image,
              command: [
                'node',
                '--input-type=module',
                '--eval',
                readFileSync(new URL(file, import.meta.url), 'utf8'),
              ],
              env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
              readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
              resources: {
                requests: { cpu: '50m', memory: '64Mi' },
                limits: { cpu: '1', memory: '256Mi' },
              },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  };
};

/** The image of the local chain, which has Node. */
export const chainImage = async (own: Kubectl): Promise<string> =>
  (await own.json(['get', 'statefulset', 'chain'])).spec.template.spec.containers[0].image;

/** What may connect to a pod with these labels, in addition to its own policy. */
const mayBeReached = (name: string, podSelector: object, port: number): object => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: `edge-to-${name}` },
  spec: {
    podSelector,
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ podSelector: { matchLabels: labels } }], ports: [{ protocol: 'TCP', port }] }],
  },
});

/** The pod `edge` with its rights. */
const manifests = (image: string): object[] => [
  programPod('edge', {
    image,
    file: 'edge.mjs',
    port: TARGETS.gateway,
    env: { ROUTES: names.map((name) => `${TARGETS[name]}=${name}:${TARGETS[name]}`).join(',') },
  }),
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'edge' },
    spec: { podSelector: { matchLabels: labels }, policyTypes: ['Egress'], egress: [{}] },
  },
  ...names.map((name) =>
    mayBeReached(
      name,
      { matchLabels: { 'app.kubernetes.io/name': name === 'postgres-rw' ? 'postgres' : name } },
      TARGETS[name],
    ),
  ),
];

/** The local addresses (`127.0.0.1:40123`) behind which the Services answer. */
type Edge = { addresses: Record<Target, string>; close: () => Promise<void> };

/**
 * Starts the pod `edge` unless it runs, and forwards local ports to it. Each connection goes to one
 * pod of its Service, as a connection inside the cluster does.
 */
export const openEdge = async (own: Kubectl): Promise<Edge> => {
  await own.apply(manifests(await chainImage(own)), '--server-side');
  await own.rollout('deployment/edge');
  const forwards = await Promise.all(names.map((name) => own.forward('deployment/edge', TARGETS[name])));
  const addresses = Object.fromEntries(names.map((name, at) => [name, `127.0.0.1:${forwards[at]!.port}`]));
  return {
    addresses: addresses as Edge['addresses'],
    close: async () => {
      await Promise.all(forwards.map(({ stop }) => stop()));
    },
  };
};
