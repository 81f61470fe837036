// Proves: with two replicas of each service, every pod can be evicted under load without a refused
// call, and the PodDisruptionBudget refuses the eviction of a service's second pod until the first
// one's replacement is ready. Then, if the cluster has one node: after `kubectl drain` and
// `uncordon` of that node everything is ready again, and no payment is lost or made twice.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { waitFor } from '../support/base/wait.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { type Kubectl, KubectlError } from './support/kubectl.ts';
import { beginLoad, refusedLines } from './support/load.ts';
import {
  isReady,
  POLL_MS,
  PRODUCT,
  podsOf,
  scaleProduct,
  secondsSince,
  waitForPods,
} from './support/pods.ts';
import { waitForTrial } from './support/trial.ts';

/** `single-node` has one pod of each service and no budgets. These are the budgets of `base`. */
const BASES = ['k8s/base', 'k8s/base/gateway'];
const budgetsOf = async (own: Kubectl): Promise<object[]> => {
  const rendered = await Promise.all(BASES.map((folder) => own.run(['kustomize', folder])));
  return rendered
    .flatMap((text) => parseAllDocuments(text).map((each) => each.toJS()))
    .filter((each) => each?.kind === 'PodDisruptionBudget');
};

/** Evicts a pod as `kubectl drain` does. False if its budget refuses that with 429. */
const evict = async (own: Kubectl, pod: string): Promise<boolean> => {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
  const path = `/api/v1/namespaces/${own.namespace}/pods/${pod}/eviction`;
  try {
    await own.run(['create', '--raw', path, '--filename', '-'], { input: JSON.stringify(eviction) });
    return true;
  } catch (error) {
    if (error instanceof KubectlError && error.stderr.includes('TooManyRequests')) return false;
    throw error;
  }
};

let installation: Installation;
beforeAll(async () => {
  installation = await runningInstallation();
});
afterAll(() => installation?.close());

/** Two pods and a budget of each service while `work` runs, one pod and none afterwards. */
const withTwoReplicas = async (own: Kubectl, work: () => Promise<void>): Promise<void> => {
  const budgets = await budgetsOf(own);
  const requests = new Map(
    (await own.list('deployments')).map(({ metadata, spec }) => [
      metadata.name as string,
      spec.template.spec.containers[0].resources.requests.cpu as string,
    ]),
  );
  expect(budgets).toHaveLength(PRODUCT.length);
  try {
    await own.apply(budgets, '--server-side');
    // Two pods of each service, and a third one meanwhile, fit on a small node only in this way.
    await scaleProduct(own, 2, () => '10m');
    await work();
  } finally {
    await own.run(['delete', 'poddisruptionbudgets', ...PRODUCT, '--ignore-not-found']);
    await scaleProduct(own, 1, (name) => requests.get(name)!);
  }
};

test('every pod is evicted under load, one of a service at a time, and no call is refused', async () => {
  const own = installation.kubectl;
  await withTwoReplicas(own, async () => {
    const load = await beginLoad(installation);
    try {
      const startedAt = performance.now();
      const tooEarly: string[] = [];
      for (const app of PRODUCT) {
        const [first, second] = await waitForPods(own, app, 2);
        // The controller of the budgets counts the pods a moment after they are ready.
        await waitFor(() => evict(own, first!), Boolean, 60_000, POLL_MS);
        const isRefused = !(await evict(own, second!));
        const replacement = (await podsOf(own, app)).filter(({ metadata }) => metadata.name !== second);
        // If the replacement was ready that soon, the second eviction was allowed.
        if (!isRefused && !replacement.some(isReady)) tooEarly.push(app);
        if (isRefused) {
          await waitForPods(own, app, 2);
          await waitFor(() => evict(own, second!), Boolean, 60_000, POLL_MS);
        }
        await waitForPods(own, app, 2);
        report(`${secondsSince(startedAt)} s  both pods of ${app} are replaced`);
      }
      const seconds = secondsSince(startedAt);
      const wrong = await load.conclude();
      const refused = refusedLines(load.refused());
      recordFigures('evictions', {
        pods: 2 * PRODUCT.length,
        seconds,
        ...load.counts(),
        refused: refused.length,
      });
      expect({ refused, wrong, tooEarly }).toEqual({ refused: [], wrong: [], tooEarly: [] });
    } finally {
      await load.close();
    }
  });
}, 1_500_000);

test('after a drain of the only node everything is ready again, and the ledger is correct', async () => {
  const own = installation.kubectl;
  const nodes = (await own.list('nodes')).map(({ metadata }) => metadata.name as string);
  if (nodes.length > 1) {
    report(`the cluster has ${nodes.length} nodes: the drain of the only node is not tested`);
    return;
  }
  const load = await beginLoad(installation);
  try {
    const startedAt = performance.now();
    // Only ours: a drained node would lose what others run on it, and our load's own pods.
    const ours = 'app.kubernetes.io/part-of=quittance';
    await own.run([
      ...['drain', nodes[0]!, '--pod-selector', ours, '--ignore-daemonsets', '--delete-emptydir-data'],
      ...['--force', '--timeout=180s'],
    ]);
    const drained = secondsSince(startedAt);
    await own.run(['uncordon', nodes[0]!]);
    await waitForTrial(own, () => {});
    const seconds = secondsSince(startedAt);
    const wrong = await load.conclude();
    recordFigures('drain of the only node', { drained, readyAfter: seconds, ...load.counts() });
    expect(wrong).toEqual([]);
  } finally {
    await own.run(['uncordon', nodes[0]!]);
    await waitForTrial(own, () => {});
    await load.close();
  }
}, 900_000);
