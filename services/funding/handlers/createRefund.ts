import { ServiceError } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps, Reservation } from '../deps.ts';
import { REFUND_LIFE_MS } from '../domain/refund.ts';
import { prepareRefund, type RefundCaller, release, reserve } from '../refunding.ts';
import { insertRefund, markReleased, openRefund, voidRefunds } from '../store/refunds.ts';
import { showRefund } from '../transfer-view.ts';

type Draft = { refund_id: string; settlement_id: string; amount: string | null; created_at: number };

/** Sets the amount aside. A refusal is settlement's word that it has not; anything less may have been carried out. */
const reserveFor = async (deps: Deps, draft: Draft, caller: RefundCaller): Promise<Reservation> => {
  const { refund_id, settlement_id, amount } = draft;
  const service_id = caller.kind === 'service_key' ? caller.service_id : null;
  try {
    return await reserve(
      deps,
      { refund_id, settlement_id, amount },
      { account_id: caller.account_id, service_id },
    );
  } catch (error) {
    await voidRefunds(deps.pool, refund_id);
    const refused =
      error instanceof ServiceError && (error.code === 'not_found' || error.code === 'conflict');
    if (refused) await markReleased(deps.pool, refund_id);
    else await release(deps, refund_id);
    throw error;
  }
};

const open = async (deps: Deps, draft: Draft, reserved: Reservation) => {
  const { refund_id, settlement_id, created_at } = draft;
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
    amount: reserved.amount,
    accepted_at: isoTime(created_at),
  });
  const amount = parseMicro(reserved.amount);
  const row = await openRefund(deps.pool, { ...refund, amount, destination_token_account });
  if (row === null) throw new ServiceError('service_unavailable', 'it took too long', { money_moved: 'no' });
  return { ...showRefund(row), ...prepared };
};

/**
 * POST /v1/refunds. The row comes first and the reservation second, so that whatever is reserved has a row by which it
 * is given back.
 */
export const createRefund =
  (deps: Deps): Handler<typeof funding.operations.createRefund> =>
  async ({ settlement_id, amount = null, reason = null }, caller) => {
    const draft: Draft = { refund_id: newId('ref'), settlement_id, amount, created_at: deps.clock() };
    const { refund_id, created_at } = draft;
    await insertRefund(deps.pool, {
      refund_id,
      settlement_id,
      vendor_account_id: caller.account_id,
      reason,
      created_at,
      pending_until: created_at + REFUND_LIFE_MS,
    });
    const reserved = await reserveFor(deps, draft, caller);
    try {
      return await open(deps, draft, reserved);
    } catch (error) {
      await voidRefunds(deps.pool, refund_id);
      await release(deps, refund_id);
      throw error;
    }
  };
