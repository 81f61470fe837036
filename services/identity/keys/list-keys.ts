import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listKeyRows } from './store/keys.ts';

/** GET /v1/keys: the account's keys that can be used, newest first. */
export const listKeys = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof identity.operations.listKeys> =>
  listHandler(deps, 'keys', {
    scope: ofAccount,
    rows: listKeyRows,
    place: ({ key_id }) => key_id,
    show: (rows) =>
      rows.map((row) => ({
        ...row,
        created_at: isoTime(row.created_at),
        last_used_at: isoTimeOrNull(row.last_used_at),
        expires_at: isoTimeOrNull(row.expires_at),
      })),
  });
