import { byName, CAPS } from '../../../shared/contract/limits.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { CloseAuthorizations } from './model.ts';
import { upsertCaps } from './store.ts';
import { showDelegate } from './view.ts';

const capOf = (digits: string | null): bigint | null => (digits === null ? null : parseMicro(digits));

/**
 * int.settlement.upsertDelegate: sets the caps of a delegate that still has the expected version.
 * What a paused one has authorized is closed. A repeat closes it, too.
 */
export const upsertDelegate =
  ({
    pool,
    closeAuthorizations,
  }: {
    pool: Pool;
    closeAuthorizations: CloseAuthorizations;
  }): Handler<typeof settlement.internal.upsertDelegate> =>
  async ({
    account_id,
    delegate_id,
    limits,
    allowed_service_ids,
    external,
    approval_above,
    paused,
    expected_version,
  }) => {
    const caps = {
      delegate_id,
      ...byName(CAPS, (name) => capOf(limits[name])),
      allowed_service_ids,
      external: external !== null,
      external_pay_to: external === null || external.pay_to === 'any' ? null : external.pay_to,
      external_origins: external?.origins ?? null,
      approval_above: capOf(approval_above),
      paused,
    };
    const row = await upsertCaps(pool, account_id, caps, expected_version);
    if (row === null) return null;
    if (paused) await closeAuthorizations({ account_id, delegate_id });
    return showDelegate(row);
  };
