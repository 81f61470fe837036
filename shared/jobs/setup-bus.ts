// A job that runs before the services of a release start, and after a NATS server lost its data. It
// creates the streams and durable consumers.
import { z } from 'zod';
import { ensureStreams } from '../bus/setup.ts';
import { commonConfig, loadConfig, NkeySeed } from '../lib/config.ts';

const { NATS_URL, NATS_NKEY_SEED, NATS_REPLICAS, TLS_CA_FILE } = loadConfig(
  z.object({
    NATS_URL: z.string().min(1),
    /** Of the user with all rights in the environment's account. */
    NATS_NKEY_SEED: NkeySeed,
    TLS_CA_FILE: commonConfig.TLS_CA_FILE,
    /** Copies of each stream: 3 in a cluster of three. */
    NATS_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  }),
);

await ensureStreams({
  servers: NATS_URL,
  seed: NATS_NKEY_SEED,
  replicas: NATS_REPLICAS,
  caFile: TLS_CA_FILE,
});
console.log(JSON.stringify({ msg: 'streams created' }));
