import { ServiceError } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { CallKey } from '../../../shared/contract/idempotency.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { abandon, begin, complete, inOneCommit, resume } from '../../../shared/idempotency/store.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps, Reservation } from '../deps.ts';
import { REFUND_LIFE_MS } from './model/refund.ts';
import { prepareRefund, type RefundCaller, release, reserve } from './refunds.ts';
import { insertRefund, markReleased, openRefund, resumeRefund, voidRefund } from './store/refunds.ts';
import { showRefund } from './view.ts';

type Draft = {
  refund_id: string;
  settlement_id: string;
  vendor_account_id: string;
  amount: string | null;
  created_at: number;
};

/** Gives up what was not opened; what another call with the same key has opened meanwhile stays. */
const giveUp = async (
  deps: Deps,
  refundId: string,
  { key, reserved }: { key: CallKey | undefined; reserved: boolean },
): Promise<void> => {
  const given = await inOneCommit(deps.pool, key, async (tx) => {
    const voided = await voidRefund(tx, refundId);
    if (voided) await abandon(tx, key, refundId);
    return voided;
  });
  if (!given) return;
  if (reserved) await release(deps, refundId);
  else await markReleased(deps.pool, refundId);
};

/** Sets the amount aside. A refusal is settlement's word that it has not; anything less may have been carried out. */
const reserveFor = async (
  deps: Deps,
  draft: Draft,
  { caller, key }: { caller: RefundCaller; key: CallKey | undefined },
): Promise<Reservation> => {
  const { refund_id, settlement_id, amount } = draft;
  const service_id = caller.kind === 'service_key' ? caller.service_id : null;
  try {
    return await reserve(
      deps,
      { refund_id, settlement_id, amount },
      { account_id: caller.account_id, service_id },
    );
  } catch (error) {
    const refused =
      error instanceof ServiceError && (error.code === 'not_found' || error.code === 'conflict');
    await giveUp(deps, refund_id, { key, reserved: !refused });
    throw error;
  }
};

const open = async (deps: Deps, draft: Draft, reserved: Reservation, key: CallKey | undefined) => {
  const { refund_id, settlement_id, vendor_account_id, created_at } = draft;
  const refund = {
    refund_id,
    service_id: reserved.service_id,
    delegate_id: reserved.delegate_id,
    payout_address: reserved.payout_address,
    payer_account_id: reserved.payer.account_id,
    destination_address: reserved.payer.owner,
  };
  const { destination_token_account, ...prepared } = await prepareRefund(deps, {
    ...refund,
    settlement_id,
    vendor_account_id,
    amount: reserved.amount,
    accepted_at: isoTime(created_at),
  });
  await failpoint('funding.beforeFinished');
  const amount = parseMicro(reserved.amount);
  return inOneCommit(deps.pool, key, async (tx) => {
    const row = await openRefund(tx, { ...refund, amount, destination_token_account });
    if (row === null)
      throw new ServiceError('service_unavailable', 'it took too long', { money_moved: 'no' });
    const answer = { ...showRefund(row), ...prepared };
    await complete(tx, key, answer, refund_id);
    return answer;
  });
};

/** The refund that an earlier call with the key has begun and not opened; else a new one, by the same key. */
const beginRefund = async (
  { pool, clock }: Deps,
  refund: { settlement_id: string; vendor_account_id: string; reason: string | null },
  key: CallKey | undefined,
): Promise<Pick<Draft, 'refund_id' | 'created_at'>> => {
  const begun = await resume(pool, key);
  const createdAt = begun === null ? null : await resumeRefund(pool, begun);
  if (begun !== null && createdAt !== null) return { refund_id: begun, created_at: createdAt };
  const [refund_id, created_at] = [newId('ref'), clock()];
  await inOneCommit(pool, key, async (tx) => {
    await insertRefund(tx, { ...refund, refund_id, created_at, pending_until: created_at + REFUND_LIFE_MS });
    await begin(tx, key, refund_id);
  });
  return { refund_id, created_at };
};

/**
 * POST /v1/refunds. The row comes first and the reservation second, so that whatever is reserved has a row by which it
 * is given back.
 */
export const createRefund =
  (deps: Deps): Handler<typeof funding.operations.createRefund> =>
  async ({ settlement_id, amount = null, reason = null }, caller, key) => {
    const vendor_account_id = caller.account_id;
    const begun = await beginRefund(deps, { settlement_id, vendor_account_id, reason }, key);
    const draft: Draft = { ...begun, settlement_id, vendor_account_id, amount };
    await failpoint('funding.afterBegun');
    const reserved = await reserveFor(deps, draft, { caller, key });
    try {
      return await open(deps, draft, reserved, key);
    } catch (error) {
      await giveUp(deps, draft.refund_id, { key, reserved: true });
      throw error;
    }
  };
