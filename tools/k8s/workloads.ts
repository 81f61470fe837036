import { programNames } from '../../deploy/local/stack/programs.ts';
import type { ServiceName } from '../../shared/contract/service.ts';

/** The targets of a workload's connections, besides DNS and the collector of its telemetry. */
export type Reach = 'nats' | 'postgres' | 'redis' | 'rpc' | 'smtp' | 'https' | 'vendors';

export type Workload = {
  /** test/k8s.test.ts derives the same from the code and compares. */
  reaches: readonly Reach[];
  replicas: { min: number; max: number };
  /**
   * How an autoscaler without KEDA compares the CPU: the mean of all replicas with the request, or
   * the sum with so much for each replica, however the load is spread over them. The services with
   * lanes pack it into few.
   */
  scaling?: { cpuOfEach: string };
  resources: { cpu: string; memory: string; memoryLimit: string };
};

/**
 * Memory: the working set that the kubelet has measured under load (test/cluster/limits.test.ts,
 * figures in docs/kubernetes.md), with a reserve for the SDK of traces. The CPU is that at 42
 * payments a second, at least a tenth of a core, and the autoscaler's measure. Limits are at least
 * three times the working set, because a burst of calls needs memory for a moment.
 */
const small = { cpu: '100m', memory: '96Mi', memoryLimit: '256Mi' };

/** Less than with KEDA, which adds a replica that stands by (`./load-scaling.ts`). */
const LANES_SCALING = { cpuOfEach: '150m' };

const WORKLOADS: Record<ServiceName | 'gateway' | 'webhook', Workload> = {
  gateway: { reaches: ['nats', 'redis'], replicas: { min: 2, max: 6 }, resources: small },
  quote: { reaches: ['nats', 'postgres'], replicas: { min: 2, max: 4 }, resources: small },
  settlement: {
    reaches: ['nats', 'postgres'],
    replicas: { min: 2, max: 6 },
    scaling: LANES_SCALING,
    resources: { cpu: '150m', memory: '96Mi', memoryLimit: '320Mi' },
  },
  wallet: { reaches: ['nats', 'postgres'], replicas: { min: 2, max: 4 }, resources: small },
  // The providers of deposits.
  funding: { reaches: ['nats', 'postgres', 'https'], replicas: { min: 2, max: 4 }, resources: small },
  identity: { reaches: ['nats', 'postgres', 'smtp'], replicas: { min: 2, max: 4 }, resources: small },
  'chain-submitter': {
    reaches: ['nats', 'postgres', 'rpc'],
    replicas: { min: 2, max: 6 },
    scaling: LANES_SCALING,
    resources: { cpu: '200m', memory: '128Mi', memoryLimit: '512Mi' },
  },
  webhook: { reaches: ['nats', 'postgres', 'vendors'], replicas: { min: 2, max: 4 }, resources: small },
};

export type WorkloadName = ServiceName | 'gateway';

/** Every process of the product with the input of its manifests. */
export const workloads = (programNames as readonly WorkloadName[]).map((name) => ({
  name,
  ...WORKLOADS[name],
}));
