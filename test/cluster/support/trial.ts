import { type RenamedImage, TRIAL_NAMESPACE, trialSecrets, writeTrial } from '../../../tools/k8s/trial.ts';
import { waitFor } from '../../support/base/wait.ts';
import { render } from '../../support/k8s/render.ts';
import { TRIAL_FOLDER } from './installation.ts';
import type { ClusterObject, Kubectl } from './kubectl.ts';

const READY_WITHIN_MS = 600_000;

type Report = (line: string) => void;
type State = { done: number; all: number; waiting: string[] };

/** Whether a job is complete, or a rollout is. The reason why a job failed is an error. */
const isReady = ({ kind, metadata, spec, status = {} }: ClusterObject): boolean => {
  if (kind === 'Job') {
    const failed = (status.conditions ?? []).find(
      (each: { type: string; status: string }) => each.type === 'Failed' && each.status === 'True',
    );
    if (failed !== undefined)
      throw new Error(
        `The job ${metadata.name} failed: ${failed.message}. Read kubectl --namespace ${metadata.namespace} logs job/${metadata.name}.`,
      );
    return (status.succeeded ?? 0) > 0;
  }
  const wanted = spec.replicas ?? 1;
  return (
    status.observedGeneration === metadata.generation &&
    (status.updatedReplicas ?? 0) >= wanted &&
    (status.readyReplicas ?? 0) >= wanted &&
    (status.replicas ?? 0) <= wanted
  );
};

/** How many jobs, Deployments and StatefulSets are complete, and which are not. */
const stateOf = async (own: Kubectl): Promise<State> => {
  const objects = await own.list('jobs,deployments,statefulsets');
  const waiting = objects.filter((each) => !isReady(each)).map(({ metadata }) => metadata.name as string);
  return { done: objects.length - waiting.length, all: objects.length, waiting };
};

/**
 * Waits until every job is complete and every rollout is ready. Reports each change.
 * @throws if a job fails, or after ten minutes
 */
export const waitForTrial = async (own: Kubectl, report: Report): Promise<void> => {
  let before = '';
  const announced = (state: State): State => {
    const missing = state.waiting.length > 0 ? `, waiting for ${state.waiting.join(', ')}` : '';
    const line = `${state.done} of ${state.all} ready${missing}`;
    if (line !== before) report(line);
    before = line;
    return state;
  };
  await waitFor(
    async () => announced(await stateOf(own)),
    ({ waiting }) => waiting.length === 0,
    READY_WITHIN_MS,
    2000,
  );
};

const isJob = ({ kind }: ClusterObject): boolean => kind === 'Job';
/** Services start after the jobs, because they end and are restarted until their schema exists. */
const isService = ({ kind, metadata }: ClusterObject): boolean =>
  kind === 'Deployment' && metadata.labels['quittance.dev/server'] === undefined;

/**
 * Applies the trial and waits until it is ready: first the servers, then the jobs, then the
 * services. Jobs of an earlier run are deleted first, because a Job cannot be changed.
 */
export const applyTrial = async (
  own: Kubectl,
  images: readonly RenamedImage[],
  report: Report,
): Promise<void> => {
  writeTrial(TRIAL_FOLDER, images);
  const objects = render(TRIAL_FOLDER);
  const apply = (what: readonly object[]) => own.apply(what, '--server-side', '--force-conflicts');
  await apply(objects.filter(({ kind }) => kind === 'Namespace'));
  await apply(trialSecrets(TRIAL_FOLDER));
  await own.run(['delete', 'jobs', '--all', '--ignore-not-found']);
  await apply(objects.filter((each) => !isJob(each) && !isService(each)));
  report('settings, secrets and servers are applied');
  await waitForTrial(own, report);
  await apply(objects.filter(isJob));
  report('the jobs are applied');
  await waitForTrial(own, report);
  await apply(objects.filter(isService));
  report('the services are applied');
  await waitForTrial(own, report);
};

/** Applies the trial's folder as the last `applyTrial` wrote it, and runs its jobs again. */
export const applyAgain = async (own: Kubectl): Promise<void> => {
  await own.run(['delete', 'jobs', '--all', '--ignore-not-found']);
  await own.apply(TRIAL_FOLDER, '--server-side', '--force-conflicts');
};

/** Deletes the trial with its volumes. */
export const deleteTrial = async (own: Kubectl): Promise<void> => {
  await own.run(['delete', 'namespace', TRIAL_NAMESPACE, '--ignore-not-found', '--timeout=300s']);
};
