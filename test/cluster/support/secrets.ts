import { trialSecrets } from '../../../tools/k8s/trial.ts';
import { render } from '../../support/k8s/render.ts';
import { TRIAL_FOLDER } from './installation.ts';
import type { Kubectl } from './kubectl.ts';

/** How long a rolling update may take on a busy node. */
const ROLLED_WITHIN_SECONDS = 600;

/** A value of a Secret, decoded. */
export const secretValue = async (own: Kubectl, name: string, key: string): Promise<string> => {
  const { data } = await own.json(['get', 'secret', name]);
  return Buffer.from(data[key], 'base64').toString();
};

/** Changes values of a Secret and keeps its others. */
export const changeSecret = async (
  own: Kubectl,
  name: string,
  stringData: Record<string, string>,
): Promise<void> => {
  await own.run(['patch', 'secret', name, '--type', 'merge', '--patch', JSON.stringify({ stringData })]);
};

/** Changes values of a ConfigMap and keeps its others. */
export const changeConfigMap = async (
  own: Kubectl,
  name: string,
  data: Record<string, string>,
): Promise<void> => {
  await own.run(['patch', 'configmap', name, '--type', 'merge', '--patch', JSON.stringify({ data })]);
};

/** Restarts workloads (`deployment/quote`), and waits until new pods have replaced the old ones. */
export const restart = async (own: Kubectl, workloads: readonly string[]): Promise<void> => {
  await own.run(['rollout', 'restart', ...workloads]);
  for (const name of workloads) await own.rollout(name, ROLLED_WITHIN_SECONDS);
};

/** Runs a job of the release again, and waits until it is complete. */
export const repeatJob = async (own: Kubectl, name: string): Promise<void> => {
  const job = render(TRIAL_FOLDER).find(({ kind, metadata }) => kind === 'Job' && metadata.name === name);
  await own.run(['delete', 'job', name]);
  await own.apply([job!], '--server-side');
  await own.run(['wait', '--for=condition=complete', '--timeout=300s', `job/${name}`]);
};

/** Sets every Secret to the trial's keys again. */
export const resetSecrets = async (own: Kubectl): Promise<void> => {
  await own.apply(trialSecrets(TRIAL_FOLDER), '--server-side', '--force-conflicts');
};
