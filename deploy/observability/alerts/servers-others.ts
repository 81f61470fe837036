import { IN, on, SERVER_STATUS, type ServerAlarm } from './server-alarm.ts';

const stream = 'stream_name="JOBS",is_stream_leader="true"';
const follower = 'stream_name="JOBS",is_stream_leader="false"';
const certificate = 'exported_namespace="quittance-test",name="nats-tls"';
const DAY = 86_400;

/** Alarms about NATS, Redis and the certificates. */
export const OTHER_ALARMS = {
  StreamWithoutLeader: {
    source: 'nats',
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
    first: SERVER_STATUS,
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
