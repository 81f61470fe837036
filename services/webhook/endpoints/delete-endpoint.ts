import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import { endpointNotFound } from './endpoint-row.ts';
import { deleteEndpointRow } from './store.ts';

/** DELETE /v1/webhook-endpoints/:endpoint_id. */
export const deleteEndpoint =
  ({ pool }: { pool: Pool }): Handler<typeof webhook.operations.deleteEndpoint> =>
  async ({ endpoint_id }, { account_id }) => {
    const isDeleted = await pool.transaction(async (tx) => {
      if (!(await deleteEndpointRow(tx, account_id, endpoint_id))) return false;
      await insertSecurityNote(tx, 'webhook', {
        account_id,
        kind: 'endpoint_deleted',
        details: { endpoint_id },
      });
      return true;
    });
    if (!isDeleted) throw endpointNotFound();
    return null;
  };
