import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { type Figures, readFigures } from '../../bench/figures.ts';
import { programNames } from '../../deploy/local/stack/programs.ts';
import type { LimitOverrides } from '../../services/gateway/limits/limits-file.ts';
import { contracts } from '../../shared/contract/index.ts';
import type { Limit } from '../../shared/contract/service.ts';
import { configOf } from '../k8s/settings.ts';
import type { WorkloadName } from '../k8s/workloads.ts';

/** What an installation is made of: the settings of its services, its manifests, its figures. */
export type Site = {
  /** The numbers among the settings, by name. */
  settings: Readonly<Record<string, number>>;
  /** Lamports that a settle's priority fee may cost at most. */
  priorityLamports: number;
  /** Calls a second and account of the operations of a payment. */
  requests: Readonly<Record<RequestName, number>>;
  manifests: Manifests;
  figures: Figures;
};

export type Manifests = {
  postgresCores: number;
  postgresBytes: number;
  postgresDisk: number;
  natsCores: number;
  natsServers: number;
  /** Of the stream of events. */
  eventsBytes: number;
  /** The most replicas of a workload, and what each requests. */
  replicas: Readonly<Record<string, { min: number; max: number; cores: number; bytes: number }>>;
};

const { quote, settlement } = contracts;
/** The operations that a vendor or a payer calls for each payment. */
const REQUESTS = {
  'quote.create': quote.operations.create,
  'settlement.settle': settlement.operations.settle,
  'settlement.redeem': settlement.operations.redeem,
  'settlement.usage': settlement.operations.usage,
  'settlement.capture': settlement.operations.capture,
} as const satisfies Record<string, { limits: readonly Limit[] }>;
export type RequestName = keyof typeof REQUESTS;

/** Calls a second of one account, by the contract or by the gateway's limits file. */
const requestsOf = ({ scale, operations }: LimitOverrides): Site['requests'] =>
  Object.fromEntries(
    Object.entries(REQUESTS).map(([name, { limits }]) => {
      const own = [...(operations[name] ?? limits)].filter(({ per }) => per === 'account');
      return [name, Math.min(...own.map(({ points, windowSeconds }) => (points * scale) / windowSeconds))];
    }),
  ) as Record<RequestName, number>;

/** A value of a service's variables that its schema refuses, or a name that none of them has. */
export class WrongSetting extends Error {}

/** The schema of each setting, by name, with the services that have it. */
export const schemasOf = async (): Promise<Map<string, z.ZodType>> => {
  const schemas = new Map<string, z.ZodType>();
  for (const name of programNames as readonly WorkloadName[])
    for (const [setting, schema] of Object.entries((await configOf(name)).shape as Record<string, z.ZodType>))
      schemas.set(setting, schema);
  return schemas;
};

/**
 * The value of each setting that has one: of the given variables, otherwise the default.
 * @throws WrongSetting
 */
const valuesOf = (schemas: ReadonlyMap<string, z.ZodType>, given: Readonly<Record<string, string>>) => {
  const values = new Map<string, unknown>();
  for (const [name, schema] of schemas) {
    const parsed = schema.safeParse(given[name]);
    if (parsed.success) values.set(name, parsed.data);
    else if (given[name] !== undefined)
      throw new WrongSetting(`${name}: ${parsed.error.issues.map(({ message }) => message).join(', ')}`);
  }
  return values;
};

type ComputeBudget = { units: number; microLamports: bigint };
/** Micro-lamports of a lamport. */
const MICRO = 1e6;
const priorityOf = (budget: ComputeBudget | undefined): number =>
  budget === undefined ? 0 : Math.ceil((budget.units * Number(budget.microLamports)) / MICRO);

type Yaml = { kind: string; metadata: { name: string }; spec: Record<string, never> };
const root = path.resolve(import.meta.dirname, '../..');
const yaml = (file: string): Yaml[] =>
  parseAllDocuments(readFileSync(path.join(root, file), 'utf8')).map((each) => each.toJS() as Yaml);

const UNITS: Record<string, number> = { m: 1e-3, '': 1, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
/** A quantity of Kubernetes: cores or bytes. */
const quantity = (text: string): number => {
  const [, number, unit] = /^([\d.]+)(m|Mi|Gi|Ti|)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`"${text}" is no quantity that the manifests use`);
  return Number(number) * UNITS[unit!]!;
};

/** The manifests as an environment of k8s/overlays has them. */
const readManifests = (): Manifests => {
  const find = (file: string, kind: string, name?: string) =>
    yaml(file).find((each) => each.kind === kind && (name === undefined || each.metadata.name === name))!
      .spec as never as {
      instances: number;
      replicas: number;
      storage: { size: string };
      resources: { limits: { cpu: string; memory: string } };
      template: {
        spec: {
          containers: {
            resources: { requests: Record<'cpu' | 'memory', string>; limits: Record<'cpu', string> };
          }[];
        };
      };
      maxBytes: number;
      minReplicas: number;
      maxReplicas: number;
      minReplicaCount: number;
      maxReplicaCount: number;
    };
  const cluster = find('k8s/components/cloudnative-pg/cluster.yaml', 'Cluster');
  const nats = find('k8s/components/nats/nats.yaml', 'StatefulSet');
  return {
    postgresCores: quantity(cluster.resources.limits.cpu),
    postgresBytes: quantity(cluster.resources.limits.memory),
    postgresDisk: quantity(cluster.storage.size),
    natsCores: quantity(nats.template.spec.containers[0]!.resources.limits.cpu),
    natsServers: nats.replicas,
    eventsBytes: find('k8s/components/nack/streams.yaml', 'Stream', 'events').maxBytes,
    replicas: Object.fromEntries(
      programNames.map((name) => {
        const { minReplicas, maxReplicas } = find(`k8s/base/${name}/scaling.yaml`, 'HorizontalPodAutoscaler');
        const { requests } = find(`k8s/base/${name}/deployment.yaml`, 'Deployment').template.spec
          .containers[0]!.resources;
        const own = { cores: quantity(requests.cpu), bytes: quantity(requests.memory) };
        return [name, { min: minReplicas, max: maxReplicas, ...own }];
      }),
    ),
  };
};

/**
 * An installation with these variables over the defaults of the services' schemas.
 * @throws WrongSetting
 */
export const readSite = async (given: Readonly<Record<string, string>> = {}): Promise<Site> => {
  const values = valuesOf(await schemasOf(), given);
  const settings = [...values].flatMap(([name, value]) =>
    typeof value === 'number' || typeof value === 'bigint' ? [[name, Number(value)] as const] : [],
  );
  return {
    settings: Object.fromEntries(settings),
    priorityLamports: priorityOf(values.get('COMPUTE_BUDGET') as ComputeBudget | undefined),
    requests: requestsOf(values.get('LIMITS_FILE') as LimitOverrides),
    manifests: readManifests(),
    figures: readFigures(),
  };
};
