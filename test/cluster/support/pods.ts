import { programNames } from '../../../deploy/local/stack/programs.ts';
import { waitFor } from '../../support/base/wait.ts';
import type { ClusterObject, Kubectl } from './kubectl.ts';

/** Each read starts a kubectl, which takes a tenth of a second of a core. */
export const POLL_MS = 1000;

/** The Deployments of the product, one for each of its programs. */
export const PRODUCT: readonly string[] = programNames;

/** The pods of a Deployment or StatefulSet, those that are being deleted excluded. */
export const podsOf = async (own: Kubectl, app: string): Promise<ClusterObject[]> => {
  const pods = await own.list('pods', '--selector', `app.kubernetes.io/name=${app}`);
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};

/** Whether a pod receives calls. */
export const isReady = ({ status }: ClusterObject): boolean =>
  (status.conditions ?? []).some(
    ({ type, status: holds }: { type: string; status: string }) => type === 'Ready' && holds === 'True',
  );

type ContainerStatus = {
  restartCount: number;
  lastState: { terminated?: { exitCode: number; reason: string } };
};

/** The status of a pod's first container. */
export const containerOf = ({ status }: ClusterObject): ContainerStatus => status.containerStatuses[0];

/**
 * Waits until a Deployment or StatefulSet has exactly this number of pods, all of them ready.
 * Returns their names.
 */
export const waitForPods = async (
  own: Kubectl,
  app: string,
  count: number,
  withinMs = 240_000,
): Promise<string[]> => {
  const pods = await waitFor(
    async () =>
      (await podsOf(own, app)).map((pod) => ({ name: pod.metadata.name as string, isReady: isReady(pod) })),
    (now) => now.length === count && now.every((pod) => pod.isReady),
    withinMs,
    POLL_MS,
  );
  return pods.map(({ name }) => name);
};

/**
 * Sets the replicas of all Deployments of the product and the CPU that each pod requests, and waits
 * until they are ready.
 * @param cpu by the Deployment's name, `100m`
 */
export const scaleProduct = async (
  own: Kubectl,
  replicas: number,
  cpu: (name: string) => string,
): Promise<void> => {
  for (const name of PRODUCT) {
    const container = { name, resources: { requests: { cpu: cpu(name) } } };
    const patch = { spec: { replicas, template: { spec: { containers: [container] } } } };
    await own.run(['patch', 'deployment', name, '--patch', JSON.stringify(patch)]);
  }
  for (const name of PRODUCT) {
    await own.rollout(`deployment/${name}`);
    await waitForPods(own, name, replicas);
  }
};

/** Seconds since a time of `performance.now()`, rounded to tenths. */
export const secondsSince = (startedAt: number): number =>
  Math.round((performance.now() - startedAt) / 100) / 10;
