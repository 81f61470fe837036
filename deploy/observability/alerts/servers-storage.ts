import { IN, on, SERVER_BACKUPS, SERVER_STATUS, type ServerAlarm } from './server-alarm.ts';

const pod = 'pod="postgres-1"';
const claim = 'persistentvolumeclaim="postgres-1"';
const DAY = 86_400;
const GIB = 1024 ** 3;

/** Alarms about Postgres and the volumes of all servers. */
export const STORAGE_ALARMS = {
  VolumeNearlyFull: {
    source: 'volumes',
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_BACKUPS,
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
    first: SERVER_STATUS,
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
  BackupJobLate: {
    source: 'jobs',
    first: SERVER_BACKUPS,
    severity: 'page',
    summary: 'The job that copies the record has not succeeded for 26 hours',
    expr: `
      max by (namespace, cronjob)
        (time() - kube_cronjob_status_last_successful_time{cronjob="backup"}) > ${26 * 3600}`,
    for: '5m',
    fires: {
      series: { [on('kube_cronjob_status_last_successful_time', 'cronjob="backup"')]: '0x1800' },
      at: '27h',
      labels: { ...IN, cronjob: 'backup' },
    },
    quiet: {
      series: { [on('kube_cronjob_status_last_successful_time', 'cronjob="backup"')]: '0x1430 86400x400' },
      at: '27h',
    },
    threshold: '26 hours: it runs each day, and may take two.',
    means: 'No new copy was written. It says so also while no process of the product runs.',
    act: 'Read the log of its last job, remove the cause, and run it once by hand (`kubernetes.md`, Backup).',
    never: 'Delete the newest good copy to make space.',
  },
} as const satisfies Record<string, ServerAlarm>;
