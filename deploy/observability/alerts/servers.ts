import type { Alarm } from './alarm.ts';

/**
 * Alarms about the servers, over the metrics of their exporters. The conditions are those that each
 * exporter's project publishes, at the versions in SOURCES, with our severities.
 */

/** What an operator reads. */
type Explained = {
  source: keyof typeof SOURCES;
  first: 'status' | 'backups';
  threshold: string;
  means: string;
  act: string;
  never: string;
};
type ServerAlarm = Alarm & Explained;

/** Where a condition is from. */
export const SOURCES = {
  postgres:
    'CloudNativePG, `docs/src/samples/monitoring/prometheusrule.yaml` at 2feec280, over the metrics of each instance',
  volumes:
    'kubernetes-mixin, `alerts/storage_alerts.libsonnet` at 3978f13f (KubePersistentVolumeUsageCritical, KubePersistentVolumeFillingUp), over the metrics of the kubelet',
  nats: 'prometheus-nats-exporter with `-jsz=all`, which publishes no rules; the metrics are those of its `collector/jsz.go` at e58bd1d3',
  redis: 'redis_exporter, `contrib/redis-mixin/alerts/redis.libsonnet` at 00cc1907',
  certificates:
    'cert-manager-mixin, `alerts/certificates.libsonnet` at 96e20872 (CertManagerCertExpirySoon, CertManagerCertNotReady), over the metrics of cert-manager',
} as const;

const PAGE = 'docs/runbook-servers.md';
const on = (metric: string, labels: string) => `${metric}{namespace="quittance-test",${labels}}`;
const IN = { namespace: 'quittance-test' };
const pod = 'pod="postgres-1"';
const claim = 'persistentvolumeclaim="postgres-1"';
const stream = 'stream_name="JOBS",is_stream_leader="true"';
const follower = 'stream_name="JOBS",is_stream_leader="false"';
const certificate = 'exported_namespace="quittance-test",name="nats-tls"';
const DAY = 86_400;
const GIB = 1024 ** 3;

export const SERVERS = {
  VolumeNearlyFull: {
    source: 'volumes',
    first: 'status',
    severity: 'page',
    summary: 'A volume has less than a tenth of its space left',
    expr: `
      min by (namespace, persistentvolumeclaim)
        (kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes) < 0.1`,
    for: '1m',
    fires: {
      series: {
        [on('kubelet_volume_stats_available_bytes', claim)]: '9x20',
        [on('kubelet_volume_stats_capacity_bytes', claim)]: '100x20',
      },
      at: '10m',
      labels: { ...IN, persistentvolumeclaim: 'postgres-1' },
    },
    quiet: {
      series: {
        [on('kubelet_volume_stats_available_bytes', claim)]: '10x20',
        [on('kubelet_volume_stats_capacity_bytes', claim)]: '100x20',
      },
      at: '10m',
    },
    threshold: 'A tenth. Postgres stops when its volume is full, and NATS refuses messages.',
    means:
      'The volume in the label `persistentvolumeclaim` is nearly full: growth, WAL that is not archived or that a lost replica holds back, or a copy that was left.',
    act: 'Enlarge the claim: `kubectl patch persistentvolumeclaim`, of Postgres `storage.size` of its Cluster. Then find what grows: PostgresArchiveFailing, PostgresReplicationLags.',
    never: 'Delete files of Postgres, of its WAL above all.',
  },
  VolumeFillsUp: {
    source: 'volumes',
    first: 'status',
    severity: 'ticket',
    summary: 'At the pace of three days a volume is full within 14 days',
    expr: `
      predict_linear(kubelet_volume_stats_available_bytes[3d], ${14 * DAY}) < 0
      and kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes < 0.5`,
    for: '1h',
    fires: {
      series: {
        // 4 GiB a day of 100 GiB, of which 40 are left.
        [on('kubelet_volume_stats_available_bytes', claim)]:
          `${52 * GIB}-${Math.round((4 * GIB) / 1440)}x4400`,
        [on('kubelet_volume_stats_capacity_bytes', claim)]: `${100 * GIB}x4400`,
      },
      at: '72h',
      labels: { ...IN, persistentvolumeclaim: 'postgres-1' },
    },
    quiet: {
      series: {
        [on('kubelet_volume_stats_available_bytes', claim)]:
          `${52 * GIB}-${Math.round((2 * GIB) / 1440)}x4400`,
        [on('kubelet_volume_stats_capacity_bytes', claim)]: `${100 * GIB}x4400`,
      },
      at: '72h',
    },
    threshold:
      '14 days, because a larger disk may have to be ordered; only of a volume that is more than half full.',
    means: 'The installation grows, and nobody has enlarged its disks (`scale.md`).',
    act: 'Enlarge the claim.',
    never: 'Shorten the time that records are kept to save a disk (`retention.md`).',
  },
  PostgresTransactionLong: {
    source: 'postgres',
    first: 'status',
    severity: 'ticket',
    summary: 'A transaction of Postgres is open for more than five minutes',
    expr: 'max by (namespace, pod) (cnpg_backends_max_tx_duration_seconds) > 300',
    for: '1m',
    fires: {
      series: { [on('cnpg_backends_max_tx_duration_seconds', pod)]: '301x20' },
      at: '10m',
      labels: { ...IN, pod: 'postgres-1' },
    },
    quiet: { series: { [on('cnpg_backends_max_tx_duration_seconds', pod)]: '300x20' }, at: '10m' },
    threshold:
      'Five minutes. Those of the services take less than a second; the daily copy takes longer, and is expected.',
    means: 'A transaction keeps old rows from being removed, and may hold locks.',
    act: 'Look it up: `select pid, usename, application_name, xact_start, query from pg_stat_activity order by xact_start limit 5`. End it with `pg_terminate_backend(pid)` if it is no backup: a service repeats its work.',
    never: 'End the processes of Postgres by their signals.',
  },
  PostgresXidAge: {
    source: 'postgres',
    first: 'status',
    severity: 'ticket',
    summary: 'Postgres does not freeze old transactions',
    expr: 'max by (namespace, pod) (cnpg_pg_database_xid_age) > 300000000',
    for: '1m',
    fires: {
      series: { [on('cnpg_pg_database_xid_age', pod)]: '300000001x20' },
      at: '10m',
      labels: { ...IN, pod: 'postgres-1' },
    },
    quiet: { series: { [on('cnpg_pg_database_xid_age', pod)]: '300000000x20' }, at: '10m' },
    threshold:
      '300 million: autovacuum begins at 200 million, and Postgres refuses writes at about 2,000 million.',
    means: 'Autovacuum is off, too slow, or held back by an old transaction or a replication slot.',
    act: 'Remove what holds it back (PostgresTransactionLong, unused slots of `pg_replication_slots`), then `vacuum freeze` the oldest tables.',
    never: 'Wait for the refusal of writes: only a single-user session helps then.',
  },
  PostgresReplicationLags: {
    source: 'postgres',
    first: 'status',
    severity: 'page',
    summary: 'A standby of Postgres is more than five minutes behind',
    expr: 'max by (namespace, pod) (cnpg_pg_replication_lag) > 300',
    for: '1m',
    fires: {
      series: { [on('cnpg_pg_replication_lag', pod)]: '301x20' },
      at: '10m',
      labels: { ...IN, pod: 'postgres-1' },
    },
    quiet: { series: { [on('cnpg_pg_replication_lag', pod)]: '300x20' }, at: '10m' },
    threshold:
      'Five minutes, as the operator has it. A commit waits for one standby, so with both behind nothing is paid.',
    means: 'A standby is slow, out of disk, or its network is.',
    act: 'Look at its pod and its log. Delete the pod and its claim if it cannot catch up: the operator makes another one.',
    never: 'Lower the number of synchronous standbys to 0: a commit would be lost with the primary.',
  },
  PostgresStandbyDisconnected: {
    source: 'postgres',
    first: 'status',
    severity: 'page',
    summary: 'A standby of Postgres does not receive WAL',
    expr: 'cnpg_pg_replication_in_recovery > cnpg_pg_replication_is_wal_receiver_up',
    for: '1m',
    fires: {
      series: {
        [on('cnpg_pg_replication_in_recovery', pod)]: '1x20',
        [on('cnpg_pg_replication_is_wal_receiver_up', pod)]: '0x20',
      },
      at: '10m',
      labels: { ...IN, pod: 'postgres-1' },
    },
    quiet: {
      series: {
        [on('cnpg_pg_replication_in_recovery', pod)]: '1x20',
        [on('cnpg_pg_replication_is_wal_receiver_up', pod)]: '1x20',
      },
      at: '10m',
    },
    threshold: 'A minute.',
    means: 'One copy of every commit is missing. With the other standby gone too, commits wait.',
    act: 'As for PostgresReplicationLags.',
    never: 'Promote a standby that is behind: that is a restore (`runbook.md`, Recoveries).',
  },
  PostgresArchiveFailing: {
    source: 'postgres',
    first: 'backups',
    severity: 'page',
    summary: 'Postgres cannot archive its WAL',
    expr: '(cnpg_pg_stat_archiver_last_failed_time - cnpg_pg_stat_archiver_last_archived_time) > 1',
    for: '1m',
    fires: {
      series: {
        [on('cnpg_pg_stat_archiver_last_failed_time', pod)]: '1000x20',
        [on('cnpg_pg_stat_archiver_last_archived_time', pod)]: '900x20',
      },
      at: '10m',
      labels: { ...IN, pod: 'postgres-1' },
    },
    quiet: {
      series: {
        [on('cnpg_pg_stat_archiver_last_failed_time', pod)]: '900x20',
        [on('cnpg_pg_stat_archiver_last_archived_time', pod)]: '1000x20',
      },
      at: '10m',
    },
    threshold: 'The last attempt failed, for a minute.',
    means: 'What is committed from now on cannot be restored from the archive, and the WAL fills the volume.',
    act: 'Repair the store of the archive: credentials, space, network. Postgres sends the rest by itself.',
    never: 'Turn archiving off to save the disk: make a new base backup if it was off.',
  },
  PostgresConnectionsNearlyUsed: {
    source: 'postgres',
    first: 'status',
    severity: 'ticket',
    summary: 'Four fifths of the connections of Postgres are used',
    expr: `
      sum by (namespace, pod) (cnpg_backends_total)
        > 0.8 * max by (namespace, pod) (cnpg_pg_settings_setting{name="max_connections"})`,
    for: '5m',
    fires: {
      series: {
        [on('cnpg_backends_total', pod)]: '81x20',
        [on('cnpg_pg_settings_setting', `${pod},name="max_connections"`)]: '100x20',
      },
      at: '10m',
      labels: { ...IN, pod: 'postgres-1' },
    },
    quiet: {
      series: {
        [on('cnpg_backends_total', pod)]: '80x20',
        [on('cnpg_pg_settings_setting', `${pod},name="max_connections"`)]: '100x20',
      },
      at: '10m',
    },
    threshold:
      'Four fifths for five minutes. `max_connections` is enough for the pools of all replicas that the autoscalers start.',
    means: 'More replicas than planned, or somebody else uses the database.',
    act: '`select usename, application_name, count(*) from pg_stat_activity group by 1, 2 order by 3 desc` names who. Raise `max_connections` with the memory for it.',
    never: 'End all connections of a service at once: its calls fail.',
  },
  StreamWithoutLeader: {
    source: 'nats',
    first: 'status',
    severity: 'page',
    summary: 'A stream of JetStream has no leader',
    expr: `
      group by (namespace, stream_name) (jetstream_stream_total_messages)
        unless group by (namespace, stream_name) (jetstream_stream_total_messages{is_stream_leader="true"})`,
    for: '1m',
    fires: {
      series: { [on('jetstream_stream_total_messages', follower)]: '5x20' },
      at: '10m',
      labels: { ...IN, stream_name: 'JOBS' },
    },
    quiet: {
      series: {
        [on('jetstream_stream_total_messages', follower)]: '5x20',
        [on('jetstream_stream_total_messages', stream)]: '5x20',
      },
      at: '10m',
    },
    threshold: 'A minute; an election takes seconds.',
    means:
      'Two of three servers of NATS do not reach each other. Messages wait in the outboxes, and none is lost.',
    act: 'Start the missing pods. If they run: the network between them (`nats-peers`), and their disks.',
    never: 'Delete the stream or its consumers.',
  },
  StreamNearlyFull: {
    source: 'nats',
    first: 'status',
    severity: 'page',
    summary: 'The stream of jobs is nearly full',
    expr: `
      max by (namespace, stream_name) (jetstream_stream_total_bytes{stream_name!="EVENTS"})
        > 0.8 * max by (namespace, stream_name) (jetstream_stream_limit_bytes{stream_name!="EVENTS"} > 0)`,
    for: '1m',
    fires: {
      series: {
        [on('jetstream_stream_total_bytes', stream)]: '81x20',
        [on('jetstream_stream_limit_bytes', stream)]: '100x20',
      },
      at: '10m',
      labels: { ...IN, stream_name: 'JOBS' },
    },
    quiet: {
      series: {
        [on('jetstream_stream_total_bytes', stream)]: '80x20',
        [on('jetstream_stream_limit_bytes', stream)]: '100x20',
        // It drops its oldest when it is full (EventStreamNearlyFull).
        [on('jetstream_stream_total_bytes', 'stream_name="EVENTS"')]: '100x20',
        [on('jetstream_stream_limit_bytes', 'stream_name="EVENTS"')]: '100x20',
      },
      at: '10m',
    },
    threshold: 'Four fifths. A full queue of work refuses more, which then waits in the outbox.',
    means: 'Nobody works off the jobs of one consumer.',
    act: 'Find the consumer that is behind: `jetstream_consumer_num_pending`. Usually ProcessAbsent, ChainUnreadable or SigningPaused is active.',
    never: 'Purge the stream.',
  },
  JetStreamNearlyFull: {
    source: 'nats',
    first: 'status',
    severity: 'page',
    summary: 'The storage of a server of NATS is nearly full',
    expr: `
      max by (namespace, server_name) (jetstream_server_total_message_bytes)
        > 0.9 * max by (namespace, server_name) (jetstream_server_max_storage > 0)`,
    for: '1m',
    fires: {
      series: {
        [on('jetstream_server_total_message_bytes', 'server_name="nats-0"')]: '91x20',
        [on('jetstream_server_max_storage', 'server_name="nats-0"')]: '100x20',
      },
      at: '10m',
      labels: { ...IN, server_name: 'nats-0' },
    },
    quiet: {
      series: {
        [on('jetstream_server_total_message_bytes', 'server_name="nats-0"')]: '90x20',
        [on('jetstream_server_max_storage', 'server_name="nats-0"')]: '100x20',
      },
      at: '10m',
    },
    threshold: 'Nine tenths.',
    means: 'The streams together need more than `max_file_store`. At its end every stream refuses messages.',
    act: 'Enlarge the claims of NATS and `max_file_store`, one server after another.',
    never: 'Delete files of a store.',
  },
  RedisDown: {
    source: 'redis',
    first: 'status',
    severity: 'page',
    summary: 'Redis does not answer',
    expr: 'redis_up == 0',
    for: '1m',
    fires: {
      series: { [on('redis_up', 'pod="redis-1"')]: '0x20' },
      at: '10m',
      labels: { ...IN, pod: 'redis-1' },
    },
    quiet: { series: { [on('redis_up', 'pod="redis-1"')]: '1x20' }, at: '10m' },
    threshold: 'A minute; its restart takes seconds. It has one pod.',
    means:
      'Each gateway counts limits in its own memory, and refuses sign-in and other calls that guess at secrets. Payments continue.',
    act: 'Start it. It needs no data.',
    never: 'Restore its data: they are the counts of the last minutes.',
  },
  RedisNearlyFull: {
    source: 'redis',
    first: 'status',
    severity: 'ticket',
    summary: 'The memory of Redis is nearly full',
    expr: 'redis_memory_used_bytes > 0.9 * (redis_memory_max_bytes > 0)',
    for: '5m',
    fires: {
      series: {
        [on('redis_memory_used_bytes', 'pod="redis-1"')]: '91x20',
        [on('redis_memory_max_bytes', 'pod="redis-1"')]: '100x20',
      },
      at: '10m',
      labels: { ...IN, pod: 'redis-1' },
    },
    quiet: {
      series: {
        [on('redis_memory_used_bytes', 'pod="redis-1"')]: '90x20',
        [on('redis_memory_max_bytes', 'pod="redis-1"')]: '100x20',
      },
      at: '10m',
    },
    threshold: 'Nine tenths of `maxmemory`, where the mixin compares with the memory of the machine.',
    means: 'When it is full, the windows that end soonest are dropped, so limits count too little.',
    act: 'Raise `maxmemory` and the limit of its container.',
    never: 'Set a policy that refuses writes.',
  },
  CertificateExpires: {
    source: 'certificates',
    first: 'status',
    severity: 'page',
    summary: 'A certificate ends within a week',
    expr: `
      min by (exported_namespace, name)
        (certmanager_certificate_expiration_timestamp_seconds - time()) < ${7 * DAY}`,
    for: '1h',
    fires: {
      series: {
        [`certmanager_certificate_expiration_timestamp_seconds{${certificate}}`]: `${7 * DAY + 60}x200`,
      },
      at: '2h',
      labels: { exported_namespace: 'quittance-test', name: 'nats-tls' },
    },
    quiet: {
      series: { [`certmanager_certificate_expiration_timestamp_seconds{${certificate}}`]: `${8 * DAY}x200` },
      at: '2h',
    },
    threshold: 'A week; cert-manager renews when a third of the time is left. The mixin warns at 21 days.',
    means:
      'It was not renewed. When it ends, its server and clients refuse each other: of `nats-tls` nothing works.',
    act: '`kubectl describe certificate` and its request name the reason. Servers read a renewed one after their reload (`kubernetes.md`, TLS).',
    never: 'Turn the verification of certificates off.',
  },
  CertificateNotReady: {
    source: 'certificates',
    first: 'status',
    severity: 'ticket',
    summary: 'A certificate is not ready',
    expr: 'max by (exported_namespace, name) (certmanager_certificate_ready_status{condition!="True"}) == 1',
    for: '10m',
    fires: {
      series: { [`certmanager_certificate_ready_status{${certificate},condition="False"}`]: '1x40' },
      at: '30m',
      labels: { exported_namespace: 'quittance-test', name: 'nats-tls' },
    },
    quiet: {
      series: {
        [`certmanager_certificate_ready_status{${certificate},condition="False"}`]: '0x40',
        [`certmanager_certificate_ready_status{${certificate},condition="True"}`]: '1x40',
      },
      at: '30m',
    },
    threshold: 'Ten minutes.',
    means: 'cert-manager could not issue it, or is about to.',
    act: 'As for CertificateExpires.',
    never: 'Turn the verification of certificates off.',
  },
} as const satisfies Record<string, ServerAlarm>;

/** Each with the place of its explanation. */
export const SERVER_ALARMS: readonly (readonly [name: string, alarm: ServerAlarm])[] =
  Object.entries<ServerAlarm>(SERVERS).map(
    ([name, alarm]) => [name, { ...alarm, runbook: `${PAGE}#${name.toLowerCase()}` }] as const,
  );
