import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import { complete, inOneCommit } from '../../../shared/idempotency/store.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { endpointNotFound } from './endpoint-row.ts';
import { newSecret, type Secrets } from './secrets.ts';
import { replaceSecret } from './store.ts';

/** POST /v1/webhook-endpoints/:endpoint_id/secret/rotate. */
export const rotateEndpointSecret =
  ({
    pool,
    secrets,
  }: {
    pool: Pool;
    secrets: Pick<Secrets, 'seal'>;
  }): Handler<typeof webhook.operations.rotateEndpointSecret> =>
  async ({ endpoint_id }, { account_id }, key) => {
    const secret = newSecret();
    const sealed = await secrets.seal(endpoint_id, secret);
    return inOneCommit(pool, key, async (tx) => {
      const row = await replaceSecret(tx, account_id, endpoint_id, sealed);
      if (row === null) throw endpointNotFound();
      const note = { account_id, kind: 'endpoint_secret_rotated' as const, details: { endpoint_id } };
      await insertSecurityNote(tx, 'webhook', note);
      const answer = { secret, previous_secret_expires_at: isoTime(row.previous_secret_expires_at!) };
      await complete(tx, key, answer);
      return answer;
    });
  };
