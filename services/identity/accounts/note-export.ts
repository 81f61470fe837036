import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertNotice } from '../mails/store.ts';

/**
 * POST /v1/accounts/me/exports. A thief with a program of his own need not call it: his reads are
 * in the request log (docs/adr/0063). One who uses our programs is noticed.
 */
export const noteExport =
  (deps: { pool: Pool; sendMailsNow: () => void }): Handler<typeof identity.operations.noteExport> =>
  async ({ of }, { account_id }) => {
    await deps.pool.transaction((tx) =>
      insertNotice(tx, { account_id, kind: 'export_made', details: { of } }),
    );
    deps.sendMailsNow();
    return null;
  };
