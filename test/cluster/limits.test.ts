// Proves: the requests and limits of the manifests suffice for settles at concurrency 16. No
// container is killed or restarted. Prints the memory and the CPU of each pod at rest and under
// load, as the kubelet measures them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createBenchVendor, createPayers, settleCalls } from '../../bench/harness/actors.ts';
import { startLoad } from '../../bench/harness/load.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import type { ClusterObject } from './support/kubectl.ts';
import { containerOf } from './support/pods.ts';
import { coresBetween, quantity, readUsage, type Sample } from './support/usage.ts';

const CONCURRENCY = 16;
const PAYERS = 8;
const CALLS = 1500;
const LOAD_SECONDS = 60;
/** The kubelet's samples at rest are this far apart at least. */
const REST_MS = 25_000;
/** The kubelet has sampled every container again within this time. */
const SAMPLED_WITHIN_MS = 120_000;

let installation: Installation;
beforeAll(async () => {
  installation = await runningInstallation();
});
afterAll(() => installation?.close());

type Usage = { megabytes: number; cores: number };

/** Pods with a running container, the jobs and the load's own pod excluded. */
const longRunning = async (): Promise<ClusterObject[]> =>
  (await installation.kubectl.list('pods')).filter(
    ({ metadata, status }) =>
      status.phase === 'Running' &&
      metadata.deletionTimestamp === undefined &&
      metadata.labels['app.kubernetes.io/name'] !== 'edge',
  );

/** The most memory and the mean CPU of each container, from now on until `stop` is called. */
const measure = async () => {
  const own = installation.kubectl;
  const first = await readUsage(own);
  const most = new Map<string, number>();
  let last = first;
  let running = true;
  const isNewer = (ms: number) => (samples: Map<string, Sample>) =>
    [...first].every(([name, { at }]) => (samples.get(name)?.at ?? at + ms) >= at + ms);
  const sample = async () => {
    last = await readUsage(own);
    for (const [name, { memoryBytes }] of last) most.set(name, Math.max(most.get(name) ?? 0, memoryBytes));
    return last;
  };
  const loop = waitFor(sample, () => !running, Number.POSITIVE_INFINITY, 2000);
  return {
    /** Resolves when each container has a sample this much newer than its first one. */
    until: (ms: number) => waitFor(() => last, isNewer(ms), ms + SAMPLED_WITHIN_MS, 1000),
    stop: async (): Promise<Map<string, Usage>> => {
      running = false;
      await loop;
      return new Map(
        [...last].flatMap(([name, to]): [string, Usage][] => {
          const from = first.get(name);
          return from === undefined || from.at === to.at
            ? []
            : [[name, { megabytes: most.get(name)! / 2 ** 20, cores: coresBetween(from, to) }]];
        }),
      );
    },
  };
};

/**
 * Settles quotes at the footprint benchmark's concurrency. Returns how many, and how many per
 * second.
 */
const settle = async (): Promise<{ settled: number; perSecond: number }> => {
  const bench = { stack: installation.stack, api: createApi(installation.stack.gateway_url) };
  const load = await startLoad();
  try {
    const vendor = await createBenchVendor(bench);
    const payers = await createPayers(bench, PAYERS);
    const calls = await settleCalls(bench, load, { vendor, payers, count: CALLS });
    const measuring = await measure();
    const { statuses, elapsedMs } = await load.run({
      kind: 'calls',
      origin: bench.stack.gateway_url,
      calls,
      concurrency: CONCURRENCY,
      seconds: LOAD_SECONDS,
    });
    busy = await measuring.stop();
    return { settled: statuses[200] ?? 0, perSecond: ((statuses[200] ?? 0) * 1000) / elapsedMs };
  } finally {
    await load.stop();
  }
};
let busy = new Map<string, Usage>();

const shown = ({ megabytes, cores }: Usage): string => `${megabytes.toFixed(0)} MB, ${cores.toFixed(3)}`;

test('limits hold under the load of the footprint benchmark, without a kill or a restart', async () => {
  const before = await longRunning();
  const resting = await measure();
  await resting.until(REST_MS);
  const rest = await resting.stop();
  const { settled, perSecond } = await settle();
  const after = await longRunning();

  const table = before.flatMap(({ spec }) => {
    const [{ name, resources }] = spec.containers;
    const [idle, load] = [rest.get(name), busy.get(name)];
    return idle === undefined || load === undefined ? [] : [{ name, resources, idle, load }];
  });
  for (const { name, idle, load, resources } of table)
    report(
      `| ${name} | ${shown(idle)} | ${shown(load)} | ${resources.requests.memory}, ${resources.requests.cpu} |`,
    );
  recordFigures('limits', { settled, perSecond, table });

  const measured = new Set(table.map(({ name }) => name));
  expect(measured).toEqual(new Set(before.map(({ spec }) => spec.containers[0].name)));
  expect(settled).toBeGreaterThan(0);
  expect(
    table.filter(({ load, resources }) => load.megabytes * 2 ** 20 > 0.9 * quantity(resources.limits.memory)),
  ).toEqual([]);
  const restarts = (pods: ClusterObject[]) =>
    pods.map((pod) => [pod.metadata.name, containerOf(pod).restartCount]);
  expect(restarts(after)).toEqual(restarts(before));
}, 900_000);
