import path from 'node:path';
import { contracts } from '../contract/index.ts';
import type { HttpOperation, ServiceContract, ServiceName } from '../contract/service.ts';
import { build } from '../lib/telemetry/version.ts';
import { CHECKSUMS } from './checksums.ts';
import { schemaName } from './names.ts';

/** A migration by the path of its file from the root, with the SHA-256 of the file. */
export type Migration = { name: string; checksum: string };

/** A row of a schema's table `migrations`. Its release is the version of the build that ran it. */
export type Applied = Migration & { release: string };

/** Whether a call of the service accepts an Idempotency-Key. */
const hasIdempotentCalls = (service: ServiceName): boolean =>
  Object.values<HttpOperation>(contracts[service].operations).some(({ idempotency }) => idempotency);

/** What makes the schema of a service, in its order. */
export const foldersOf = (service: ServiceName): string[] => {
  const contract: ServiceContract = contracts[service];
  return [
    'shared/db',
    ...(hasIdempotentCalls(service) ? ['shared/idempotency'] : []),
    ...(contract.hasLanes === true ? ['shared/lanes'] : []),
    `services/${service}`,
  ].map((folder) => `${folder}/migrations`);
};

/** The migrations of a service's schema that this build has, in the order in which they run. */
export const migrationsOf = (service: ServiceName): Migration[] =>
  foldersOf(service).flatMap((folder) =>
    Object.entries(CHECKSUMS)
      .filter(([name]) => path.posix.dirname(name) === folder)
      .map(([name, checksum]) => ({ name, checksum })),
  );

/** What a build would do to a schema. A refusal is one line that says what to do instead. */
type Comparison = { refusal?: string; pending: Migration[]; newer: Applied[] };

/** Folder and number of a migration. */
const placeOf = ({ name }: Migration): [folder: string, number: number] => [
  path.posix.dirname(name),
  Number(path.posix.basename(name).slice(0, 4)),
];

/** Whether it comes after all that the build has in its folder. */
const isNewer = (migration: Migration, own: readonly Migration[]): boolean => {
  const [folder, number] = placeOf(migration);
  return own.map(placeOf).every(([other, before]) => other !== folder || before < number);
};

/**
 * Compares a schema with a build. A migration that the build does not have may be of a later
 * release. Services continue on it, because it only adds (docs/operations.md, Upgrade).
 * @param applied null: the schema has no record of its migrations
 */
export const compareMigrations = (
  schema: string,
  own: readonly Migration[],
  applied: readonly Applied[] | null,
): Comparison => {
  const done = new Map(applied?.map((each) => [each.name, each]));
  const known = new Map(own.map(({ name, checksum }) => [name, checksum]));
  const unknown = [...done.values()].filter(({ name }) => !known.has(name));
  const pending = own.filter(({ name }) => !done.has(name));
  const newer = unknown.filter((each) => isNewer(each, own));
  const refuse = (text: string) => ({ refusal: `${schema}: ${text}`, pending, newer });

  const changed = own
    .map(({ name }) => done.get(name))
    .find((each) => each && known.get(each.name) !== each.checksum);
  if (changed !== undefined)
    return refuse(
      `${changed.name} is not the file that release ${changed.release} has applied: use a build that has that file (SHA-256 ${changed.checksum.slice(0, 12)}…), because an applied migration never changes`,
    );
  // A later release continues this one, so it has everything that this one has.
  const foreign =
    unknown.find((each) => !newer.includes(each)) ?? (pending.length > 0 ? newer[0] : undefined);
  if (foreign !== undefined)
    return refuse(
      `${foreign.name} was applied by release ${foreign.release} and is not part of this build (${build.version}): use a build that continues that release`,
    );
  return { pending, newer };
};

/**
 * Why a service must not run on its schema, in one line.
 * @param applied as for `compareMigrations`
 */
export const unfitFor = (service: ServiceName, applied: readonly Applied[] | null): string | undefined => {
  const schema = schemaName(service);
  const { refusal, pending } = compareMigrations(schema, migrationsOf(service), applied);
  if (refusal !== undefined || pending.length === 0) return refusal;
  return `${schema}: ${pending[0]!.name} is not applied: run the job migrate of this build (${build.version}) first`;
};
