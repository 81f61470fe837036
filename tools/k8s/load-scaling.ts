import type { Manifest } from './manifests.ts';
import { workloads } from './workloads.ts';

/**
 * How many replicas the services with lanes have (ADR 70). As few replicas as the load needs own
 * lanes, and the others stand by. The mean over all of them therefore says nothing about the load,
 * and the number of open payments says how slow the chain is. What counts is the sum over the
 * owners.
 */

/** The services whose replicas own lanes. */
export const LANED = ['settlement', 'chain-submitter'] as const;
type Laned = (typeof LANED)[number];

/**
 * The load for which there is one replica, beside the one that stands by. An owner gives lanes away
 * above 0.6, so whoever takes them is there when a load has doubled within a minute.
 */
const PER_REPLICA = 0.25;
const STAND_BY = 1;
/** A burst of some seconds is no load. */
const MEAN = '2m';
/** A higher number must be asked for so long, and a lower one. */
const UP_SECONDS = 60;
const DOWN_SECONDS = 600;
const POLL_SECONDS = 15;
/** The autoscaler of Kubernetes changes nothing within this part of the present number. */
const TOLERANCE = 0.1;

const boundsOf = (service: Laned) => workloads.find(({ name }) => name === service)!.replicas;

/** How many replicas a load asks for, before bounds and windows. */
export const askedReplicas = (load: number): number => Math.ceil(load / PER_REPLICA) + STAND_BY;

/** The same in PromQL: the mean load of each owner of lanes, added up. */
export const loadQuery = (service: Laned, environment: string): string => {
  const of = `{environment="${environment}",service_name="${service}"}`;
  const owners = `max_over_time(quittance_lanes${of}[${MEAN}]) > 0`;
  const load = `sum(avg_over_time(quittance_replica_load_ratio${of}[${MEAN}]) and on (instance) (${owners}))`;
  return `ceil(${load} / ${PER_REPLICA}) + ${STAND_BY}`;
};

/** KEDA's resource. The overlay names its environment in the query. */
export const scaledObject = (service: Laned): Manifest => {
  const { min, max } = boundsOf(service);
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: service, annotations: { 'argocd.argoproj.io/sync-wave': '2' } },
    spec: {
      scaleTargetRef: { name: service },
      minReplicaCount: min,
      maxReplicaCount: max,
      pollingInterval: POLL_SECONDS,
      // Without Prometheus the load is unknown.
      fallback: { failureThreshold: 4, replicas: 3 },
      advanced: {
        horizontalPodAutoscalerConfig: {
          behavior: {
            scaleUp: { stabilizationWindowSeconds: UP_SECONDS },
            scaleDown: { stabilizationWindowSeconds: DOWN_SECONDS },
          },
        },
      },
      triggers: [
        {
          type: 'prometheus',
          name: 'load',
          metadata: {
            serverAddress: 'http://prometheus-operated.monitoring.svc:9090',
            query: 'THE OVERLAY NAMES ITS ENVIRONMENT',
            // The query is the number of replicas.
            threshold: '1',
            ignoreNullValues: 'false',
          },
        },
      ],
    },
  };
};

/**
 * The numbers of replicas that KEDA and the autoscaler of Kubernetes make of the answers to the
 * query. The highest number that the last ten minutes asked for is kept, and a higher one is taken
 * when the whole last minute has asked for it.
 * @param asked the value of the query at each poll, every 15 s
 * @returns the number of replicas after each of them
 */
export const replicasOver = (asked: readonly number[], service: Laned): number[] => {
  const { min, max } = boundsOf(service);
  // The autoscaler begins with the present number as what was wanted.
  const wanted: number[] = [min];
  let replicas = min;
  return asked.map((value) => {
    // AverageValue with the threshold 1: as many replicas as the value, if it differs enough.
    const differs = Math.abs(value / replicas - 1) > TOLERANCE;
    wanted.push(Math.min(max, Math.max(min, differs ? Math.ceil(value) : replicas)));
    const last = (seconds: number) => wanted.slice(-Math.ceil(seconds / POLL_SECONDS));
    const up = Math.min(...last(UP_SECONDS));
    const down = Math.max(...last(DOWN_SECONDS));
    replicas = up > replicas ? up : Math.min(replicas, down);
    return replicas;
  });
};

/** The answers to the query, from samples of the load of all owners. */
export const askedOver = (samples: readonly number[], everySeconds: number): number[] => {
  const [step, mean] = [POLL_SECONDS / everySeconds, 120 / everySeconds];
  const polls = Math.floor(samples.length / step);
  return Array.from({ length: polls }, (_, poll) => {
    const until = Math.floor((poll + 1) * step);
    const window = samples.slice(Math.max(0, until - mean), until);
    return askedReplicas(window.reduce((sum, each) => sum + each, 0) / window.length);
  });
};
