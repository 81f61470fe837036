/**
 * The servers that the caller of the tests named, before a set-up of these tests put its servers
 * into the environment: the set-ups of all projects run in one process, and the tests' processes
 * inherit their environment.
 */
const { POSTGRES_URL, NATS_URL, REDIS_URL } = process.env;

process.env.EXTERNAL_SERVERS ??= JSON.stringify({
  ...(POSTGRES_URL ? { postgresUrl: POSTGRES_URL } : {}),
  ...(NATS_URL ? { natsUrl: NATS_URL } : {}),
  ...(REDIS_URL ? { redisUrl: REDIS_URL } : {}),
});

export const externalServers = JSON.parse(process.env.EXTERNAL_SERVERS) as {
  postgresUrl?: string;
  natsUrl?: string;
  redisUrl?: string;
};
