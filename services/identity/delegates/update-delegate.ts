import type { Records } from '../../../shared/boot.ts';
import { conflict, invalid, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { requireFresh } from '../../../shared/lib/tokens/step-up.ts';
import { insertNotice } from '../mails/store.ts';
import type { Peers } from '../peers.ts';
import { delegateChanged } from './events.ts';
import { parseExpiry } from './expiry.ts';
import {
  EXTERNAL_WITH_SERVICES,
  extendsExpiry,
  isContradictory,
  raises,
  raisesExternal,
  withLimits,
} from './model.ts';
import { getSpending } from './spending.ts';
import { findDelegateRow, updateDelegateRow } from './store.ts';
import { showDelegate } from './view.ts';

/**
 * PATCH /v1/delegates/:delegate_id. Whether a change lets the key do more is decided against one
 * version of the limits, and only that version is changed. An old sign-in therefore cannot raise
 * what a concurrent call has lowered.
 */
export const updateDelegate =
  (
    deps: Pick<Records, 'pool' | 'clock' | 'relay'> &
      Pick<Peers, 'listDelegateSpending' | 'upsertDelegate'> & { sendMailsNow: () => void },
  ): Handler<typeof identity.operations.updateDelegate> =>
  async ({ delegate_id, name, expires_at: expiryText, limits, ...rest }, caller) => {
    const { account_id } = caller;
    const row = await findDelegateRow(deps.pool, account_id, delegate_id);
    if (row === null) throw notFound('delegate');
    const expires_at = typeof expiryText === 'string' ? parseExpiry(deps, expiryText) : expiryText;
    const before = (await getSpending(deps, account_id, [row]))(delegate_id);
    const of = <K extends keyof typeof rest>(name: K) => {
      const value = rest[name];
      return value === undefined ? before[name] : value;
    };
    const after = {
      limits: withLimits(before.limits, limits ?? {}),
      allowed_service_ids: of('allowed_service_ids'),
      external: of('external'),
      approval_above: of('approval_above'),
      paused: of('paused'),
    };
    if (isContradictory(after)) throw invalid('external', EXTERNAL_WITH_SERVICES);
    const extended = expires_at !== undefined && extendsExpiry(row.expires_at, expires_at);
    const widens = raises(before, after) || extended;
    if (widens) requireFresh(caller, deps.clock());

    const isChanged = [limits, ...Object.values(rest)].some((value) => value !== undefined);
    const spending = isChanged
      ? await deps.upsertDelegate({ delegate_id, account_id, ...after, expected_version: before.version })
      : before;
    const change = { name, expires_at, mayExtend: extended };
    const { changed, outbox } = await deps.pool.transaction(async (tx) => {
      const updated = spending === null ? null : await updateDelegateRow(tx, account_id, delegate_id, change);
      if (updated !== null && widens) {
        const details = { name: updated.name, delegate_id };
        const isExternal = raisesExternal(before.external, after.external);
        await insertNotice(tx, {
          account_id,
          details,
          kind: isExternal ? 'external_allowed' : 'delegate_widened',
        });
      }
      return {
        changed: updated,
        outbox: updated === null ? [] : await insertOutbox(tx, [delegateChanged(deps, 'updated', updated)]),
      };
    });
    deps.relay.dispatch(outbox);
    deps.sendMailsNow();
    if (spending === null || changed === null) {
      throw conflict('the delegate was changed at the same time; read it and repeat');
    }
    return showDelegate(changed, spending);
  };
