import type { Kubectl } from './kubectl.ts';

/** What a container has used, as its node's kubelet has measured it at a time. */
export type Sample = {
  /** Epoch milliseconds. */
  at: number;
  /** Memory that the kernel cannot take back, in bytes: what a limit is compared with. */
  memoryBytes: number;
  /** CPU time since the start of the container, in nanoseconds. */
  cpuNanos: number;
};

type Summary = {
  pods: {
    podRef: { name: string; namespace: string };
    containers?: {
      name: string;
      cpu?: { time: string; usageCoreNanoSeconds?: number };
      memory?: { workingSetBytes?: number };
    }[];
  }[];
};

/** The samples of one namespace in a kubelet's stats summary, by container. */
export const samplesIn = (summary: Summary, namespace: string): Map<string, Sample> =>
  new Map(
    summary.pods
      .filter(({ podRef }) => podRef.namespace === namespace)
      .flatMap(({ containers = [] }) => containers)
      .flatMap(({ name, cpu, memory }): [string, Sample][] =>
        cpu?.usageCoreNanoSeconds === undefined || memory?.workingSetBytes === undefined
          ? []
          : [
              [
                name,
                {
                  at: Date.parse(cpu.time),
                  memoryBytes: memory.workingSetBytes,
                  cpuNanos: cpu.usageCoreNanoSeconds,
                },
              ],
            ],
      ),
  );

/**
 * The newest samples of all containers of a namespace. A kubelet takes one every ten to twenty
 * seconds.
 */
export const readUsage = async (own: Kubectl): Promise<Map<string, Sample>> => {
  const nodes = await own.list('nodes');
  const all = await Promise.all(
    nodes.map(async ({ metadata }) => {
      const path = `/api/v1/nodes/${metadata.name}/proxy/stats/summary?only_cpu_and_memory=true`;
      return samplesIn(JSON.parse(await own.run(['get', '--raw', path])) as Summary, own.namespace);
    }),
  );
  return new Map(all.flatMap((samples) => [...samples]));
};

/** Cores in use between two samples of a container. */
export const coresBetween = (from: Sample, to: Sample): number =>
  (to.cpuNanos - from.cpuNanos) / ((to.at - from.at) * 1e6);

const SUFFIXES: Record<string, number> = { '': 1, m: 0.001, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** A quantity of Kubernetes, `150m` or `128Mi`, in cores or bytes. */
export const quantity = (text: string): number => {
  const [, number, suffix] = /^([\d.]+)(m|Ki|Mi|Gi|)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`${text} is no quantity that the manifests use`);
  return Number(number) * SUFFIXES[suffix!]!;
};
