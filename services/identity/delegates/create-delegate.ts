import type { Records } from '../../../shared/boot.ts';
import { invalid, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import { dailyGrant, type PeriodLimits } from '../../../shared/contract/identity/device-delegates.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { newId } from '../../../shared/lib/id.ts';
import { mintFirstKey } from '../keys/mint-key.ts';
import { insertNotice } from '../mails/store.ts';
import type { Peers } from '../peers.ts';
import { grantToDevice } from '../sessions/store/sessions.ts';
import type { Terms } from '../terms.ts';
import { delegateChanged } from './events.ts';
import { parseExpiry } from './expiry.ts';
import { EXTERNAL_WITH_SERVICES, isContradictory, NO_LIMITS, withLimits } from './model.ts';
import { insertDelegate } from './store.ts';
import { showDelegate } from './view.ts';

/**
 * Counts the limits of a new delegate in those of all delegates of its device.
 * @throws ServiceError forbidden
 */
const countGrant = async (
  tx: Db,
  session: { account_id: string; session_id: string },
  limits: PeriodLimits,
): Promise<void> => {
  const amount = dailyGrant(limits);
  if (amount !== null && (await grantToDevice(tx, session, amount))) return;
  throw new ServiceError(
    'forbidden',
    'the delegates of this sign-in would have limits of more than 25 USDC together, or it has ended; create the delegate in the console',
  );
};

/**
 * POST /v1/delegates. Settlement stores the limits before the key exists, so that no key can spend
 * without them.
 */
export const createDelegate =
  (
    deps: Pick<Records, 'pool' | 'clock' | 'relay'> &
      Pick<Terms, 'environment'> &
      Pick<Peers, 'hasWallet' | 'upsertDelegate'> & { sendMailsNow: () => void },
  ): Handler<typeof identity.operations.createDelegate> =>
  async (input, caller, key) => {
    const { account_id } = caller;
    const expires_at = input.expires_at === undefined ? null : parseExpiry(deps, input.expires_at);
    const caps = {
      limits: withLimits(NO_LIMITS, input.limits),
      allowed_service_ids: input.allowed_service_ids ?? null,
      external: input.external ?? null,
      approval_above: input.approval_above ?? null,
      paused: false,
    };
    if (isContradictory(caps)) throw invalid('external', EXTERNAL_WITH_SERVICES);
    if (!(await deps.hasWallet(account_id, input.wallet_id))) {
      throw notFound('wallet');
    }
    const delegate_id = newId('del');
    const spending = await deps.upsertDelegate({ delegate_id, account_id, ...caps, expected_version: 0 });
    if (spending === null) throw new Error(`settlement already has the new delegate ${delegate_id}`);
    const { created, outbox } = await deps.pool.transaction(async (tx) => {
      if (caller.device === true) await countGrant(tx, caller, caps.limits);
      const row = await insertDelegate(tx, {
        delegate_id,
        account_id,
        name: input.name,
        wallet_id: input.wallet_id,
        session_id: caller.device === true ? caller.session_id : null,
        expires_at,
        created_at: deps.clock(),
      });
      const api_key = await mintFirstKey(tx, deps, { kind: 'delegate', id: delegate_id }, row);
      const outbox = await insertOutbox(tx, [delegateChanged(deps, 'created', row)]);
      const details = { name: row.name, delegate_id };
      await insertNotice(tx, { account_id, kind: 'delegate_created', details });
      if (caps.external !== null) await insertNotice(tx, { account_id, kind: 'external_allowed', details });
      const answer = { ...showDelegate(row, spending), api_key };
      await complete(tx, key, answer);
      return { created: answer, outbox };
    });
    deps.relay.dispatch(outbox);
    deps.sendMailsNow();
    return created;
  };
