import { type Databases, databasesIn, hasDatabases } from '../../../shared/db/databases.ts';

/**
 * The servers that the caller of the tests named, before a set-up of these tests put its servers
 * into the environment: the set-ups of all projects run in one process, and the tests' processes
 * inherit their environment.
 */
const { NATS_URL, REDIS_URL } = process.env;

process.env.EXTERNAL_SERVERS ??= JSON.stringify({
  ...(hasDatabases(process.env, 'POSTGRES_URL')
    ? { postgresUrls: databasesIn(process.env, 'POSTGRES_URL') }
    : {}),
  ...(NATS_URL ? { natsUrl: NATS_URL } : {}),
  ...(REDIS_URL ? { redisUrl: REDIS_URL } : {}),
});

export const externalServers = JSON.parse(process.env.EXTERNAL_SERVERS) as {
  postgresUrls?: Databases;
  natsUrl?: string;
  redisUrl?: string;
};

/** How many servers of Postgres each stack of these tests has. */
export const testDatabases = Number(process.env.TEST_DATABASES ?? 1);
