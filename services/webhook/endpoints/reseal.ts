import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { Secrets } from './secrets.ts';
import { listSealedOtherwise, replaceSealed } from './store.ts';

const BATCH = 100;

/**
 * Seals what another key has sealed with the first one, so that the others can be removed from
 * SECRETS_KEY. A secret that no key opens stays as it is, and its deliveries report it.
 */
export const resealSecrets =
  ({ pool, logger, secrets }: { pool: Pool; logger: Logger; secrets: Secrets }) =>
  async (): Promise<void> => {
    const reseal = async (endpointId: string, sealed: string): Promise<string> =>
      secrets.isOfFirstKey(sealed)
        ? sealed
        : secrets.seal(endpointId, await secrets.open(endpointId, sealed));
    let resealed = 0;
    let after = '';
    for (;;) {
      const rows = await listSealedOtherwise(pool, { sealed: secrets.prefix, after, limit: BATCH });
      for (const row of rows) {
        const { endpoint_id, secret, previous_secret } = row;
        try {
          const next = await reseal(endpoint_id, secret);
          const previous = previous_secret === null ? null : await reseal(endpoint_id, previous_secret);
          // Another replica may have been faster, or the owner may have rotated the secret.
          if (await replaceSealed(pool, row, { secret: next, previous_secret: previous })) resealed += 1;
        } catch (error) {
          logger.error({ err: error, endpoint_id }, 'no key opens the secret of an endpoint');
        }
      }
      if (rows.length < BATCH) break;
      after = rows.at(-1)!.endpoint_id;
    }
    if (resealed > 0) logger.info({ endpoints: resealed }, 'secrets of endpoints sealed with the first key');
  };
