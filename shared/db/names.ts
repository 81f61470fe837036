import type { ServiceName } from '../contract/service.ts';

/** The name of folder, schema and role: `-` becomes `_` where SQL requires it. */
export const schemaName = (service: ServiceName): string => service.replaceAll('-', '_');

/** The table of each schema with the migrations that made it. */
export const MIGRATIONS_TABLE = 'migrations';

/**
 * The login role of a service. Its name includes the database, because roles belong to the server.
 */
export const roleName = (database: string, service: ServiceName): string =>
  `${database}_${schemaName(service)}`;
