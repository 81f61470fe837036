import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { ServiceName } from '../../shared/contract/service.ts';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { ADMIN_SETTING, ownSetting } from '../../shared/db/databases.ts';
import type { Manifest } from './manifests.ts';

const COMMON = '../../k8s/components/cloudnative-pg';

/** A file of the component of one Postgres, for the server with this name. */
const copyFor = (file: string, name: string): Manifest =>
  parse(
    readFileSync(new URL(`${COMMON}/${file}`, import.meta.url), 'utf8')
      .replaceAll('cnpg.io/cluster: postgres', `cnpg.io/cluster: ${name}`)
      .replaceAll(/^ {2}name: postgres/gm, `  name: ${name}`),
  ) as Manifest;

/** The name of the server of a service with a Postgres of its own. */
export const serverOf = (service: ServiceName): string => `postgres-${service}`;

/** `migrate` gets the owner of each database, whose password the operator has made. */
const migratePatch = (): string =>
  stringify([
    { op: 'remove', path: '/spec/template/spec/containers/0/env/0' },
    ...SERVICE_NAMES.map((service) => ({
      op: 'add',
      path: '/spec/template/spec/containers/0/env/-',
      value: {
        name: ownSetting(ADMIN_SETTING, service),
        valueFrom: { secretKeyRef: { name: `${serverOf(service)}-app`, key: 'uri' } },
      },
    })),
  ]);

/** The component with a Postgres for each service (docs/scale.md): file → its objects. */
export const databaseFiles = (): Record<string, object[]> => ({
  'clusters.yaml': SERVICE_NAMES.map((service) => copyFor('cluster.yaml', serverOf(service))),
  'network.yaml': SERVICE_NAMES.map((service) => copyFor('network.yaml', serverOf(service))),
  'kustomization.yaml': [
    {
      apiVersion: 'kustomize.config.k8s.io/v1alpha1',
      kind: 'Component',
      resources: ['clusters.yaml', 'network.yaml'],
      patches: [{ target: { kind: 'Job', name: 'migrate' }, patch: migratePatch() }],
    },
  ],
});
