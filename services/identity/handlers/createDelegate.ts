import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { newId } from '../../../shared/lib/id.ts';
import { expiryOf } from '../delegates.ts';
import type { Deps } from '../deps.ts';
import { withLimits } from '../domain/delegate.ts';
import { delegateChanged } from '../events.ts';
import { mintFirstKey } from '../keys.ts';
import { insertDelegate } from '../store/delegates.ts';
import { showDelegate } from '../view.ts';

/** POST /v1/delegates. The caps are settlement's before there is a key that could spend. */
export const createDelegate =
  (deps: Deps): Handler<typeof identity.operations.createDelegate> =>
  async (input, caller, key) => {
    const { account_id } = caller;
    const expires_at = input.expires_at === undefined ? null : expiryOf(deps, input.expires_at);
    if (!(await deps.hasWallet(account_id, input.wallet_id))) {
      throw notFound('wallet');
    }
    const delegate_id = newId('del');
    const none = { per_payment: null, daily: null, monthly: null, total: null };
    const spending = await deps.upsertDelegate({
      delegate_id,
      account_id,
      limits: withLimits(none, input.limits),
      allowed_service_ids: input.allowed_service_ids ?? null,
      expected_version: 0,
    });
    if (spending === null) throw new Error('a new delegate id is in use');
    const { created, outbox } = await deps.pool.transaction(async (tx) => {
      const row = await insertDelegate(tx, {
        delegate_id,
        account_id,
        name: input.name,
        wallet_id: input.wallet_id,
        expires_at,
        created_at: deps.clock(),
      });
      const api_key = await mintFirstKey(tx, deps, { kind: 'delegate', id: delegate_id }, row);
      const outbox = await insertOutbox(tx, [delegateChanged(deps, 'created', row)]);
      const answer = { ...showDelegate(row, spending), api_key };
      await complete(tx, key, answer);
      return { created: answer, outbox };
    });
    deps.relay.dispatch(outbox);
    deps.pokeMails();
    return created;
  };
