import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reads } from '../../../shared/db/reads.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { listHandler, ofAccount } from '../../../shared/lists/list.ts';
import { listSecurityEventRows } from './store.ts';

/** GET /v1/accounts/me/security-events. */
export const listSecurityEvents = (deps: {
  reads: Reads;
  cursorKeys: readonly Buffer[];
}): Handler<typeof identity.operations.listSecurityEvents> =>
  listHandler(deps, 'security-events', {
    scope: ofAccount,
    rows: listSecurityEventRows,
    place: ({ security_event_id }) => security_event_id,
    show: (rows) => rows.map((row) => ({ ...row, created_at: isoTime(row.created_at) })),
  });
