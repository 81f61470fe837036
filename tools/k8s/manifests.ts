import { STOPS_WITHIN_SECONDS } from '../../shared/lib/shutdown.ts';
import { type EnvVar, HTTP_PORT, LIMITS_FOLDER, METRICS_PORT } from './settings.ts';
import type { Workload, WorkloadName } from './workloads.ts';

/**
 * A Kubernetes object as it is written to a file. test/k8s.test.ts checks it against the types and
 * schemas of kubernetes-models.
 */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; [more: string]: unknown };
} & Record<string, unknown>;

/** The time for load balancers to remove the endpoint, before SIGTERM is sent. */
const PRE_STOP_SECONDS = 5;
const GRACE_SECONDS = PRE_STOP_SECONDS + STOPS_WITHIN_SECONDS + 10;
const HUNG_GRACE_SECONDS = PRE_STOP_SECONDS + 10;

/** Argo CD starts these after the jobs of k8s/base/setup, its wave 1. */
const afterSetup = { annotations: { 'argocd.argoproj.io/sync-wave': '2' } };

/** The image's user, which owns no file. */
const USER = 10_001;

export const labelsOf = (name: string): Record<string, string> => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': 'quittance',
});

const selector = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });

const probe = (
  path: string,
  times: { periodSeconds: number; timeoutSeconds: number; failureThreshold: number },
) => ({
  httpGet: { path, port: 'http' },
  ...times,
});

const container = (name: WorkloadName, { resources }: Workload, env: EnvVar[]) => ({
  name,
  image: 'quittance',
  args: [name],
  ports: [
    { name: 'http', containerPort: HTTP_PORT },
    { name: 'metrics', containerPort: METRICS_PORT },
  ],
  env,
  // These two check only the event loop, because restarting a process does not repair a failed
  // database.
  startupProbe: probe('/v1/health', { periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 90 }),
  // A process that hangs finishes nothing, so its successor does not wait for the whole grace.
  livenessProbe: {
    ...probe('/v1/health', { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }),
    terminationGracePeriodSeconds: HUNG_GRACE_SECONDS,
  },
  readinessProbe: probe('/v1/health/ready', { periodSeconds: 5, timeoutSeconds: 4, failureThreshold: 2 }),
  lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
  resources: {
    requests: { cpu: resources.cpu, memory: resources.memory },
    // The code runs in one thread, so more than one core is useless.
    limits: { cpu: '1', memory: resources.memoryLimit },
  },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  ...(name === 'gateway'
    ? { volumeMounts: [{ name: 'limits', mountPath: LIMITS_FOLDER, readOnly: true }] }
    : {}),
});

const spread = (name: string, topologyKey: string) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: selector(name),
  matchLabelKeys: ['pod-template-hash'],
});

const deployment = (name: WorkloadName, workload: Workload, env: EnvVar[]): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: labelsOf(name), ...afterSetup },
  // The number of replicas is omitted, because the autoscaler sets it.
  spec: {
    selector: selector(name),
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels: labelsOf(name) },
      spec: {
        serviceAccountName: name,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: GRACE_SECONDS,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: USER,
          runAsGroup: USER,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        topologySpreadConstraints: [
          spread(name, 'topology.kubernetes.io/zone'),
          spread(name, 'kubernetes.io/hostname'),
        ],
        containers: [container(name, workload, env)],
        ...(name === 'gateway' ? { volumes: [{ name: 'limits', configMap: { name: 'limits' } }] } : {}),
      },
    },
  },
});

const service = (name: WorkloadName): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, labels: labelsOf(name) },
  spec: {
    selector: selector(name).matchLabels,
    ports: [
      { name: 'http', port: HTTP_PORT, targetPort: 'http' },
      { name: 'metrics', port: METRICS_PORT, targetPort: 'metrics' },
    ],
  },
});

const serviceAccount = (name: WorkloadName): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, labels: labelsOf(name) },
  automountServiceAccountToken: false,
});

const budget = (name: WorkloadName): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, labels: labelsOf(name) },
  // A pod that is not ready needs no protection and must not block the draining of its node.
  spec: { maxUnavailable: 1, selector: selector(name), unhealthyPodEvictionPolicy: 'AlwaysAllow' },
});

const autoscaler = (name: WorkloadName, { replicas, scaling }: Workload): Manifest => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name, labels: labelsOf(name), ...afterSetup },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: replicas.min,
    maxReplicas: replicas.max,
    metrics: [
      {
        type: 'Resource',
        resource: {
          name: 'cpu',
          target:
            scaling === undefined
              ? { type: 'Utilization', averageUtilization: 70 }
              : { type: 'AverageValue', averageValue: scaling.cpuOfEach },
        },
      },
    ],
  },
});

/** The files of one service without its network policy, by their names. */
export const manifestsOf = (
  name: WorkloadName,
  workload: Workload,
  env: EnvVar[],
): Record<string, Manifest[]> => ({
  'deployment.yaml': [deployment(name, workload, env)],
  'service.yaml': [service(name), serviceAccount(name)],
  'scaling.yaml': [autoscaler(name, workload), budget(name)],
});
