import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { MAX_ENDPOINTS, type webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { Sender } from '../sender/sender.ts';
import { newSecret, type Secrets } from './secrets.ts';
import { insertEndpoint } from './store.ts';
import { showEndpoint } from './view.ts';

/** POST /v1/webhook-endpoints. */
export const createEndpoint =
  (deps: {
    pool: Pool;
    sender: Pick<Sender, 'check'>;
    secrets: Pick<Secrets, 'seal'>;
  }): Handler<typeof webhook.operations.createEndpoint> =>
  async ({ url, description, event_types }, { account_id }, key) => {
    await deps.sender.check(url);
    const endpoint_id = newId('whe');
    const secret = newSecret();
    const sealed = await deps.secrets.seal(endpoint_id, secret);
    const endpoint = {
      endpoint_id,
      account_id,
      url,
      description: description ?? null,
      event_types: event_types ?? ['*'],
      secret: sealed,
    };
    return deps.pool.transaction(async (tx) => {
      const row = await insertEndpoint(tx, endpoint, MAX_ENDPOINTS);
      if (row === null) {
        throw conflict(`an account has at most ${MAX_ENDPOINTS} webhook endpoints; delete one first`);
      }
      const details = { endpoint_id, host: new URL(url).host };
      await insertSecurityNote(tx, 'webhook', { account_id, kind: 'endpoint_created', details });
      const answer = { ...showEndpoint(row), secret };
      await complete(tx, key, answer);
      return answer;
    });
  };
