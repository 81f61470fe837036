import { labelsOf, type Manifest } from './manifests.ts';
import { HTTP_PORT, METRICS_PORT } from './settings.ts';
import type { Reach, Workload, WorkloadName } from './workloads.ts';

/**
 * One policy per service with its flows in both directions; base/common denies all others.
 * Namespaces are selected by labels, so an environment in its own namespace and a trial in a single
 * namespace use the same policies. `quittance.dev/environment` marks a namespace with an
 * environment's services, and `quittance.dev/gateway` that of the gateway. The platform puts
 * `quittance.dev/ingress` on the namespace of its Gateway API controller and
 * `quittance.dev/monitoring` on that of its Prometheus and collector.
 */
const tcp = (...ports: number[]) => ports.map((port) => ({ protocol: 'TCP', port }));
const server = (name: string) => ({ podSelector: { matchLabels: { 'quittance.dev/server': name } } });
const labelled = (label: string) => ({
  namespaceSelector: { matchExpressions: [{ key: `quittance.dev/${label}`, operator: 'Exists' }] },
});

/**
 * Public addresses only: no pod, no node and no metadata service of a cloud, which hands out
 * credentials.
 */
const INTERNET = [
  {
    ipBlock: {
      cidr: '0.0.0.0/0',
      except: [
        '0.0.0.0/8',
        '10.0.0.0/8',
        '100.64.0.0/10',
        '127.0.0.0/8',
        '169.254.0.0/16',
        '172.16.0.0/12',
        '192.168.0.0/16',
        '198.18.0.0/15',
        '224.0.0.0/3',
      ],
    },
  },
  // All allocated addresses, without the tunnels to IPv4 addresses.
  { ipBlock: { cidr: '2000::/3', except: ['2001::/32', '2002::/16'] } },
];

const nats = { to: [server('nats')], ports: tcp(4222) };
const EGRESS: Record<Reach, object> = {
  nats,
  postgres: { to: [server('postgres')], ports: tcp(5432) },
  redis: { to: [server('redis')], ports: tcp(6379) },
  rpc: { to: INTERNET, ports: tcp(443) },
  smtp: { to: INTERNET, ports: tcp(465, 587) },
  https: { to: INTERNET, ports: tcp(443) },
  // The ports that a vendor's endpoint may use.
  vendors: { to: INTERNET, ports: [...tcp(443), { protocol: 'TCP', port: 1024, endPort: 65_535 }] },
};
/** The gateway connects to every environment's bus in that environment's namespace. */
const natsOfAll = { to: [{ ...labelled('environment'), ...server('nats') }], ports: tcp(4222) };
const telemetry = { to: [labelled('monitoring')], ports: tcp(4318) };

const scrape = { from: [labelled('monitoring')], ports: tcp(METRICS_PORT) };
const calls = { from: [labelled('ingress')], ports: tcp(HTTP_PORT) };

/** The network policy of one service. Probes come from the node itself, which no policy blocks. */
export const networkPolicyOf = (name: WorkloadName, { reaches }: Workload): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: labelsOf(name) },
  spec: {
    podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: name === 'gateway' ? [calls, scrape] : [scrape],
    egress: [
      ...reaches.map((reach) => (name === 'gateway' && reach === 'nats' ? natsOfAll : EGRESS[reach])),
      telemetry,
    ],
  },
});

const names = (...values: string[]) => ({
  podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values }] },
});

const serverPolicy = (name: string, spec: object): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: labelsOf(name) },
  spec: { podSelector: { matchLabels: { 'quittance.dev/server': name } }, ...spec },
});

/**
 * The workloads that may reach an environment's bus and database: services by their names, the
 * jobs, and the gateway from its namespace.
 */
export const serverPolicies = (all: readonly ({ name: WorkloadName } & Workload)[]): Manifest[] => {
  const reaching = (reach: Reach) =>
    all.filter(({ name, reaches }) => name !== 'gateway' && reaches.includes(reach)).map(({ name }) => name);
  const gateway = {
    ...labelled('gateway'),
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'gateway' } },
  };
  const peers = { ports: tcp(6222) };
  return [
    serverPolicy('nats', {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { from: [names(...reaching('nats'), 'setup-bus'), gateway], ports: tcp(4222) },
        { from: [server('nats')], ...peers },
      ],
      egress: [{ to: [server('nats')], ...peers }],
    }),
    serverPolicy('postgres', {
      policyTypes: ['Ingress'],
      ingress: [{ from: [names(...reaching('postgres'), 'migrate')], ports: tcp(5432) }],
    }),
  ];
};
