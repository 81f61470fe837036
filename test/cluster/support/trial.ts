import { TRIAL_NAMESPACE, trialSecrets, writeTrial } from '../../../tools/k8s/trial.ts';
import { waitFor } from '../../support/wait.ts';
import { TRIAL_FOLDER } from './installation.ts';
import type { Kubectl } from './kubectl.ts';

const READY_WITHIN_MS = 600_000;

type Report = (line: string) => void;
type State = { done: number; all: number; waiting: string[] };

/** How many jobs, Deployments and StatefulSets are complete, and which are not. */
const stateOf = async (own: Kubectl): Promise<State> => {
  const objects = await own.list('jobs,deployments,statefulsets');
  const waiting = objects
    .filter(({ kind, metadata, spec, status = {} }) => {
      if (kind === 'Job') return (status.succeeded ?? 0) === 0;
      const wanted = spec.replicas ?? 1;
      return (
        status.observedGeneration !== metadata.generation ||
        (status.updatedReplicas ?? 0) < wanted ||
        (status.readyReplicas ?? 0) < wanted ||
        (status.replicas ?? 0) > wanted
      );
    })
    .map(({ metadata }) => metadata.name as string);
  return { done: objects.length - waiting.length, all: objects.length, waiting };
};

/** Waits until every job is complete and every rollout is ready. Reports each change. */
export const waitForTrial = async (own: Kubectl, report: Report): Promise<void> => {
  let before = '';
  const announced = (state: State): State => {
    const line = `${state.done} of ${state.all} ready${state.waiting.length > 0 ? `, waiting for ${state.waiting.join(', ')}` : ''}`;
    if (line !== before) report(line);
    before = line;
    return state;
  };
  await waitFor(
    async () => announced(await stateOf(own)),
    ({ waiting }) => waiting.length === 0,
    READY_WITHIN_MS,
    1000,
  );
};

/** Writes the trial's folder and applies it. */
export const applyTrial = async (own: Kubectl, images: Parameters<typeof writeTrial>[1]): Promise<void> => {
  writeTrial(TRIAL_FOLDER, images);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TRIAL_NAMESPACE } };
  await own.apply([namespace], '--server-side');
  await own.apply(trialSecrets(TRIAL_FOLDER), '--server-side', '--force-conflicts');
  await applyAgain(own);
};

/** Applies the trial as its folder has it, and runs its jobs again. */
export const applyAgain = async (own: Kubectl): Promise<void> => {
  // A Job cannot be changed.
  await own.run(['delete', 'jobs', '--all', '--ignore-not-found']);
  await own.apply(TRIAL_FOLDER, '--server-side', '--force-conflicts');
};

/** Deletes the trial with its volumes. */
export const deleteTrial = async (own: Kubectl): Promise<void> => {
  await own.run(['delete', 'namespace', TRIAL_NAMESPACE, '--ignore-not-found', '--timeout=300s']);
};
