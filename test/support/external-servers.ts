/**
 * The servers that the caller of the tests named, as they were before any set-up of ours put its
 * own into the environment: the set-ups of all projects run in one process, and the tests'
 * processes inherit what they leave.
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
