import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { clusterSecrets } from '../../../tools/k8s/secrets.ts';
import { configOf } from '../../../tools/k8s/settings.ts';
import type { WorkloadName } from '../../../tools/k8s/workloads.ts';
import { nameOf, podOf, type Rendered } from './render.ts';

/** Environments that run beside each other, as tools/cluster-secrets.ts is asked for them. */
export type Installation = {
  environments: { name: string; namespace: string }[];
  gatewayNamespace: string;
};

/** Names of ConfigMaps, ServiceAccounts, targets and services that nothing rendered has. */
export function unresolved(objects: readonly Rendered[]): string[] {
  const names = new Set(objects.map(nameOf));
  return objects.flatMap((object) => {
    const { namespace } = object.metadata;
    const spec = podOf(object)?.spec;
    const wanted = [
      ...(spec?.serviceAccountName ? [`ServiceAccount/${spec.serviceAccountName}`] : []),
      ...((spec?.volumes ?? []) as { configMap?: { name: string } }[]).flatMap(({ configMap }) =>
        configMap ? [`ConfigMap/${configMap.name}`] : [],
      ),
      ...(['HorizontalPodAutoscaler', 'ScaledObject'].includes(object.kind)
        ? [`Deployment/${object.spec.scaleTargetRef.name}`]
        : []),
      ...(object.kind === 'StatefulSet' ? [`Service/${object.spec.serviceName}`] : []),
      ...(object.kind === 'HTTPRoute' ? [`Service/${object.spec.rules[0].backendRefs[0].name}`] : []),
    ];
    return wanted
      .filter((name) => !names.has(`${namespace}/${name}`))
      .map((name) => `${nameOf(object)}: there is no ${name}`);
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

/** What is wrong with the variables of the containers, with the Secrets that tools/cluster-secrets.ts makes. */
export async function settingsFindings(
  { environments, gatewayNamespace }: Installation,
  objects: readonly Rendered[],
  folder: string,
): Promise<string[]> {
  const made = clusterSecrets({
    folder,
    environments: environments.map((each) => ({
      ...each,
      rpcUrls: ['https://rpc.example'],
      smtpUrl: 'smtps://mail.example',
    })),
    gatewayNamespace,
  }) as Rendered[];
  // The operator of the database makes this one.
  for (const { kind, metadata } of objects)
    if (kind === 'Cluster')
      made.push({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `${metadata.name}-app`, namespace: metadata.namespace },
        stringData: { uri: 'postgres://' },
      });
  const sources = new Map([...made, ...objects].map((each) => [nameOf(each), each.stringData ?? each.data]));
  const used = new Set<string>();
  const findings: string[] = [];

  for (const object of objects) {
    for (const { name: process, image, env = [] } of (podOf(object)?.spec.containers ?? []) as {
      name: string;
      image: string;
      env?: EnvVar[];
    }[]) {
      const values: Record<string, string> = {};
      for (const { name, value, valueFrom } of env) {
        const reference = valueFrom?.secretKeyRef ?? valueFrom?.configMapKeyRef;
        if (value !== undefined) values[name] = value;
        if (reference === undefined) continue;
        const kind = valueFrom?.secretKeyRef ? 'Secret' : 'ConfigMap';
        const source = `${object.metadata.namespace}/${kind}/${reference.name}`;
        used.add(`${source}/${reference.key}`);
        const found = sources.get(source)?.[reference.key];
        if (found !== undefined) values[name] = found;
        else if (reference.optional !== true)
          findings.push(`${process}: ${name}: there is no ${reference.key} in ${source}`);
      }
      if (!image.startsWith('quittance') || object.kind !== 'Deployment') continue;
      const config = await configOf(process as WorkloadName);
      const unknown = Object.keys(values).filter(
        (name) => !(name in config.shape) && !name.startsWith('OTEL_EXPORTER_PROMETHEUS_'),
      );
      findings.push(...unknown.map((name) => `${process}: ${name} is no setting of it`));
      if (values.LIMITS_FILE !== undefined) {
        const limits = podOf(object).spec.volumes[0].configMap.name;
        values.LIMITS_FILE = path.join(folder, 'limits.json');
        writeFileSync(
          values.LIMITS_FILE,
          sources.get(`${object.metadata.namespace}/ConfigMap/${limits}`)?.['limits.json'] ?? '',
        );
      }
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
        if (!used.has(`${source}/${key}`) && !UNUSED.test(`${source}/${key}`))
          findings.push(`nobody reads ${source}/${key}`);
  return findings;
}

/** For NACK's Account; for the database where no operator makes it; public keys are made for all and read by some. */
const UNUSED = /\/setup\/(NATS_USER|POSTGRES_ADMIN_URL)$|\/postgres\/POSTGRES_PASSWORD$/;
