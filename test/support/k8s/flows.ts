import { BlockList, isIPv6 } from 'node:net';
import { podOf, type Rendered } from './render.ts';

/**
 * The connections that the network policies of rendered objects allow, computed as Kubernetes does:
 * a pod that policies select may do what one of them allows. A connection needs the permission of
 * its sender's and its receiver's policies.
 */
type Labels = Record<string, string>;
type Peer = { name: string; ip?: string; namespace?: string; labels: Labels };
type Selector = {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
};
type From = {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
};
type Rule = { from?: From[]; to?: From[]; ports?: { port: number; endPort?: number }[] };

const matches = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key in labels;
    if (operator === 'In') return values.includes(labels[key] ?? '');
    throw new Error(`unknown operator ${operator}`);
  });

const inBlock = (ip: string, { cidr, except = [] }: NonNullable<From['ipBlock']>): boolean => {
  const family = isIPv6(ip) ? 'ipv6' : 'ipv4';
  const within = (range: string) => {
    const [net, bits] = range.split('/') as [string, string];
    if (isIPv6(net) !== isIPv6(ip)) return false;
    const list = new BlockList();
    list.addSubnet(net, Number(bits), family);
    return list.check(ip, family);
  };
  return within(cidr) && !except.some(within);
};

/**
 * Peers outside of the rendered objects: by the labels of the platform's namespaces, and by
 * address.
 */
const elsewhere = (name: string, labels: Labels = {}): [Peer, Labels] => [
  { name, namespace: name, labels },
  { 'kubernetes.io/metadata.name': name },
];
const OUTSIDE: [Peer, Labels][] = [
  elsewhere('kube-system', { 'k8s-app': 'kube-dns' }),
  elsewhere('stranger'),
  elsewhere('cnpg-system'),
  elsewhere('nack-system'),
  [elsewhere('monitoring')[0], { 'quittance.dev/monitoring': '' }],
  [elsewhere('ingress')[0], { 'quittance.dev/ingress': '' }],
];
const ADDRESSES: Peer[] = [
  ['internet', '93.184.215.14'],
  ['internet6', '2606:4700::1'],
  ['private', '10.1.2.3'],
  ['private6', 'fd00::1'],
  ['metadata', '169.254.169.254'],
].map(([name, ip]) => ({ name: name!, ip: ip!, labels: {} }));

/** The ports that are checked. */
export const PORTS = [
  22, 25, 53, 80, 443, 465, 587, 1025, 3000, 4222, 4318, 5432, 6222, 6379, 6443, 8000, 8025, 8222, 8899, 8901,
  9187, 9464,
];

/**
 * Every connection that the policies allow, as `<from> → <to>:<port>`; pods are
 * `<namespace>/<name>`.
 */
export const allowedFlows = (objects: readonly Rendered[]): Set<string> => {
  const namespaces = new Map<string, Labels>(OUTSIDE.map(([{ name }, labels]) => [name, labels]));
  for (const { kind, metadata } of objects)
    if (kind === 'Namespace')
      namespaces.set(metadata.name, { 'kubernetes.io/metadata.name': metadata.name, ...metadata.labels });

  const pods: Peer[] = objects.flatMap((object) => {
    const { namespace, name } = object.metadata;
    const labels: Labels | undefined =
      podOf(object)?.metadata.labels ??
      (object.kind === 'Cluster'
        ? { 'cnpg.io/cluster': name, ...object.spec.inheritedMetadata?.labels }
        : undefined);
    return labels === undefined ? [] : [{ name: `${namespace}/${name}`, namespace, labels }];
  });
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');

  const isPeer = (
    policy: Rendered,
    { podSelector, namespaceSelector, ipBlock }: From,
    peer: Peer,
  ): boolean => {
    if (ipBlock !== undefined) return peer.ip !== undefined && inBlock(peer.ip, ipBlock);
    if (peer.namespace === undefined) return false;
    const inNamespace = namespaceSelector
      ? matches(namespaceSelector, namespaces.get(peer.namespace) ?? {})
      : peer.namespace === policy.metadata.namespace;
    return inNamespace && matches(podSelector ?? {}, peer.labels);
  };
  type Side = 'Ingress' | 'Egress';
  const selecting = (side: Side, own: Peer): Rendered[] =>
    policies.filter(
      ({ metadata, spec }) =>
        metadata.namespace === own.namespace &&
        spec.policyTypes.includes(side) &&
        matches(spec.podSelector, own.labels),
    );
  const ours = new Map(
    pods.map((own) => [own, { Ingress: selecting('Ingress', own), Egress: selecting('Egress', own) }]),
  );
  const allows = (side: Side, own: Peer, other: Peer, port: number): boolean => {
    const mine = ours.get(own)?.[side] ?? [];
    if (mine.length === 0) return true;
    return mine.some((policy) =>
      ((side === 'Ingress' ? policy.spec.ingress : policy.spec.egress) ?? []).some((rule: Rule) => {
        const peers = side === 'Ingress' ? rule.from : rule.to;
        const ports = rule.ports ?? [];
        return (
          (ports.length === 0 ||
            ports.some((each) => each.port <= port && port <= (each.endPort ?? each.port))) &&
          (peers === undefined || peers.some((peer) => isPeer(policy, peer, other)))
        );
      }),
    );
  };

  const all = [...pods, ...OUTSIDE.map(([peer]) => peer), ...ADDRESSES];
  const flows = new Set<string>();
  for (const from of all)
    for (const to of all)
      for (const port of PORTS)
        if (
          (ours.has(from) || ours.has(to)) &&
          allows('Egress', from, to, port) &&
          allows('Ingress', to, from, port)
        )
          flows.add(`${from.name} → ${to.name}:${port}`);
  return flows;
};
