import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { clusterSecrets } from '../../../tools/k8s/secrets.ts';
import { configOf } from '../../../tools/k8s/settings.ts';
import { trialSecrets } from '../../../tools/k8s/trial.ts';
import type { WorkloadName } from '../../../tools/k8s/workloads.ts';
import { isProduct, nameOf, podOf, type Rendered } from './render.ts';

/** Environments that run beside each other, as tools/cluster-secrets.ts names them. */
type Installation = {
  environments: { name: string; namespace: string }[];
  gatewayNamespace: string;
  /** Whether it is the overlay `trial`, which has more Secrets. */
  isTrial?: boolean;
};

/**
 * What the installation brings (docs/kubernetes.md): the authority of the servers, which an issuer
 * of certificates makes, and the public keys of the bus.
 */
const BROUGHT = ['ConfigMap/server-ca', 'ConfigMap/nats-users'];

type ConfigMapSource = { configMap?: { name: string } };
type Volume = ConfigMapSource & { projected?: { sources: ConfigMapSource[] } };

/** Names of ConfigMaps, ServiceAccounts, targets and services that no rendered object has. */
export function unresolved(objects: readonly Rendered[]): string[] {
  const names = new Set(objects.map(nameOf));
  return objects.flatMap((object) => {
    const { namespace } = object.metadata;
    const spec = podOf(object)?.spec;
    const wanted = [
      ...(spec?.serviceAccountName ? [`ServiceAccount/${spec.serviceAccountName}`] : []),
      ...((spec?.volumes ?? []) as Volume[])
        .flatMap((volume) => [volume, ...(volume.projected?.sources ?? [])])
        .flatMap(({ configMap }) => (configMap ? [`ConfigMap/${configMap.name}`] : [])),
      ...(['HorizontalPodAutoscaler', 'ScaledObject'].includes(object.kind)
        ? [`Deployment/${object.spec.scaleTargetRef.name}`]
        : []),
      ...(object.kind === 'StatefulSet' ? [`Service/${object.spec.serviceName}`] : []),
      ...(object.kind === 'HTTPRoute' ? [`Service/${object.spec.rules[0].backendRefs[0].name}`] : []),
    ];
    return wanted
      .filter((name) => !BROUGHT.includes(name) && !names.has(`${namespace}/${name}`))
      .map((name) => `${nameOf(object)}: ${name} does not exist`);
  });
}

type EnvVar = {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: { name: string; key: string; optional?: boolean };
    configMapKeyRef?: { name: string; key: string; optional?: boolean };
  };
};

/** ConfigMaps and Secrets by their names, as `nameOf` writes them. */
type Sources = ReadonlyMap<string, Record<string, string> | undefined>;

/** The rendered ConfigMaps and Secrets, and those that tools/cluster-secrets.ts creates. */
export const sourcesOf = (
  { environments, gatewayNamespace, isTrial = false }: Installation,
  objects: readonly Rendered[],
  folder: string,
): Sources => {
  const options = {
    folder,
    environments: environments.map((each) => ({
      ...each,
      rpcUrls: ['https://rpc.example', 'https://rpc.example.net'],
      smtpUrl: 'smtps://mail.example',
    })),
    gatewayNamespace,
  };
  const made = (isTrial ? trialSecrets(folder) : clusterSecrets(options)) as Rendered[];
  // The operator of the database creates this one.
  for (const { kind, metadata } of objects)
    if (kind === 'Cluster')
      made.push({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `${metadata.name}-app`, namespace: metadata.namespace },
        stringData: { uri: 'postgres://' },
      });
  return new Map([...made, ...objects].map((each) => [nameOf(each), each.stringData ?? each.data]));
};

type Container = { name: string; image: string; env?: EnvVar[] };

/**
 * The variables that the kubelet sets in a container, the missing ones, and the sources it read.
 */
export const variablesOf = (object: Rendered, container: Container, sources: Sources) => {
  const values: Record<string, string> = {};
  const missing: string[] = [];
  const used: string[] = [];
  for (const { name, value, valueFrom } of container.env ?? []) {
    const reference = valueFrom?.secretKeyRef ?? valueFrom?.configMapKeyRef;
    if (value !== undefined) values[name] = value;
    if (reference === undefined) continue;
    const kind = valueFrom?.secretKeyRef ? 'Secret' : 'ConfigMap';
    const source = `${object.metadata.namespace}/${kind}/${reference.name}`;
    used.push(`${source}/${reference.key}`);
    const found = sources.get(source)?.[reference.key];
    if (found !== undefined) values[name] = found;
    else if (reference.optional !== true)
      missing.push(`${container.name}: ${name}: ${source} has no ${reference.key}`);
  }
  return { values, missing, used };
};

/** Copies the limits file from the gateway's volume into a local folder. */
export const limitsFileOf = (object: Rendered, sources: Sources, folder: string): string => {
  const limits = podOf(object).spec.volumes[0].configMap.name;
  const file = path.join(folder, 'limits.json');
  writeFileSync(file, sources.get(`${object.metadata.namespace}/ConfigMap/${limits}`)?.['limits.json'] ?? '');
  return file;
};

/** Findings about the variables of the containers. */
export async function settingsFindings(
  installation: Installation,
  objects: readonly Rendered[],
  folder: string,
): Promise<string[]> {
  const sources = sourcesOf(installation, objects, folder);
  const allUsed = new Set<string>();
  const findings: string[] = [];

  for (const object of objects) {
    for (const container of (podOf(object)?.spec.containers ?? []) as Container[]) {
      const { values, missing, used } = variablesOf(object, container, sources);
      findings.push(...missing);
      for (const each of used) allUsed.add(each);
      const { name: process, image } = container;
      if (!isProduct(image) || object.kind !== 'Deployment') continue;
      const config = await configOf(process as WorkloadName);
      const unknown = Object.keys(values).filter(
        (name) => !(name in config.shape) && !name.startsWith('OTEL_EXPORTER_PROMETHEUS_'),
      );
      findings.push(...unknown.map((name) => `${process}: ${name} is not one of its settings`));
      if (values.LIMITS_FILE !== undefined) values.LIMITS_FILE = limitsFileOf(object, sources, folder);
      const result = config.safeParse(values);
      findings.push(
        ...(result.error?.issues ?? []).map(
          (issue) => `${process}: ${issue.path.join('.')}: ${issue.message}`,
        ),
      );
    }
  }
  for (const [source, values] of sources)
    if (/\/(Secret\/|ConfigMap\/(settings-|public-keys))/.test(source))
      for (const key of Object.keys(values ?? {}))
        if (!allUsed.has(`${source}/${key}`) && !UNUSED.test(`${source}/${key}`))
          findings.push(`no container reads ${source}/${key}`);
  return findings;
}

/**
 * Exceptions: the database has an operator or has none, or public keys are created for all
 * processes and read by some.
 */
const UNUSED = /\/setup\/POSTGRES_ADMIN_URL$|\/postgres\/POSTGRES_PASSWORD$/;
