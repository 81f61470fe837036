import type { Alarm } from './alarm.ts';

/**
 * Alarms about the servers, over the metrics of their exporters. The conditions are those that each
 * exporter's project publishes, at the versions in SOURCES, with our severities.
 */

type Explained = {
  source: keyof typeof SOURCES;
  /** The command of `npm run ops` to begin with, and what to search for in its answer. */
  first: string;
  threshold: string;
  means: string;
  act: string;
  never: string;
};
/** An alarm with what an operator reads. */
export type ServerAlarm = Alarm & Explained;

/** Where a condition is from. */
export const SOURCES = {
  postgres:
    'CloudNativePG, `docs/src/samples/monitoring/prometheusrule.yaml` at 2feec280, over the metrics of each instance',
  volumes:
    'kubernetes-mixin, `alerts/storage_alerts.libsonnet` at 3978f13f (KubePersistentVolumeUsageCritical, KubePersistentVolumeFillingUp), over the metrics of the kubelet',
  jobs: 'kube-state-metrics, which publishes no rules; the metric is one of its cron jobs',
  nats: 'prometheus-nats-exporter with `-jsz=all`, which publishes no rules; the metrics are those of its `collector/jsz.go` at e58bd1d3',
  redis: 'redis_exporter, `contrib/redis-mixin/alerts/redis.libsonnet` at 00cc1907',
  certificates:
    'cert-manager-mixin, `alerts/certificates.libsonnet` at 96e20872 (CertManagerCertExpirySoon, CertManagerCertNotReady), over the metrics of cert-manager',
} as const;

/** A series of the environment of the cases. */
export const on = (metric: string, labels: string) => `${metric}{namespace="quittance-test",${labels}}`;
export const IN = { namespace: 'quittance-test' };

export const SERVER_STATUS =
  'status`: the line `readiness` names the services that feel it, and the alarms which others there are';
export const SERVER_BACKUPS =
  'backups`: the newest copy, how old it is, and whether it was restored in a drill';
