import type { Records } from '../../../shared/boot.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { CallKey } from '../../../shared/contract/idempotency.ts';
import type { funding } from '../../../shared/contract/index.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { insertSecurityNote } from '../../../shared/events/security-note.ts';
import { abandon, begin, complete, inOneCommit, resume } from '../../../shared/idempotency/store.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import { REFUND_LIFE_MS } from './model/refund.ts';
import { type PrepareDeps, prepareRefund } from './prepare-transfer.ts';
import type { RefundCaller } from './refund-scope.ts';
import { type ReleaseReservationDeps, releaseReservation } from './release-reservation.ts';
import {
  insertRefund,
  openRefund,
  type RefundRow,
  recordRelease,
  resumeRefund,
  voidRefund,
} from './store/refunds.ts';
import { showRefund } from './view.ts';

type Reservation = Awaited<ReturnType<Peers['reserveRefund']>>;
type Deps = ReleaseReservationDeps & PrepareDeps & Pick<Records, 'clock'> & Pick<Peers, 'reserveRefund'>;

/** Who refunds, by which call. */
type RefundCall = { caller: RefundCaller; key: CallKey | undefined };

/** A refund that is begun and not opened yet. */
type Draft = Pick<RefundRow, 'refund_id' | 'settlement_id' | 'vendor_account_id' | 'created_at'>;

/**
 * Abandons a refund that was not opened, unless another call with the same key has opened it
 * meanwhile.
 */
const abandonRefund = async (
  deps: Deps,
  refundId: string,
  { key, reserved }: { key: CallKey | undefined; reserved: boolean },
): Promise<void> => {
  const voided = await inOneCommit(deps.pool, key, async (tx) => {
    const changed = await voidRefund(tx, refundId);
    if (changed) await abandon(tx, key, refundId);
    return changed;
  });
  if (!voided) return;
  if (reserved) await releaseReservation(deps, refundId);
  else await recordRelease(deps.pool, refundId);
};

/**
 * Reserves the amount at settlement. After a refusal it is certain that nothing is reserved. After
 * any other error it is not, so the reservation is released.
 */
const reserve = async (
  deps: Deps,
  { refund_id, settlement_id }: Draft,
  amount: string | null,
  { caller, key }: RefundCall,
): Promise<Reservation> => {
  const service_id = caller.kind === 'service_key' ? caller.service_id : null;
  const { account_id } = caller;
  try {
    return await deps.reserveRefund({ refund_id, settlement_id, amount, account_id, service_id });
  } catch (error) {
    const refused =
      error instanceof ServiceError && (error.code === 'not_found' || error.code === 'conflict');
    await abandonRefund(deps, refund_id, { key, reserved: !refused });
    throw error;
  }
};

/**
 * Prepares the transaction of a reserved refund and opens the refund. @returns the answer of the
 * call
 */
const open = async (deps: Deps, draft: Draft, reservation: Reservation, { caller, key }: RefundCall) => {
  const { refund_id, settlement_id, vendor_account_id: account_id } = draft;
  const refund = {
    refund_id,
    service_id: reservation.service_id,
    delegate_id: reservation.delegate_id,
    payout_address: reservation.payout_address,
    payer_account_id: reservation.payer.account_id,
    destination_address: reservation.payer.owner,
    amount: parseMicro(reservation.amount),
    item: reservation.item,
  };
  const { destination_token_account, ...prepared } = await prepareRefund(deps, { ...draft, ...refund });
  await failpoint('funding.beforeFinished');
  return inOneCommit(deps.pool, key, async (tx) => {
    const row = await openRefund(tx, { ...refund, destination_token_account });
    if (row === null) {
      const message = 'the preparation took too long and was abandoned: repeat the call';
      throw new ServiceError('service_unavailable', message, { money_moved: 'no' });
    }
    if (caller.kind === 'jwt') {
      const details = { refund_id, settlement_id };
      await insertSecurityNote(tx, 'funding', { account_id, kind: 'refund_created', details });
    }
    const answer = { ...showRefund(row), ...prepared };
    await complete(tx, key, answer, refund_id);
    return answer;
  });
};

/**
 * Resumes the refund that an earlier call with the key has begun and not opened, or begins another.
 */
const beginRefund = async (
  { pool, clock }: Deps,
  refund: Pick<RefundRow, 'settlement_id' | 'vendor_account_id' | 'reason'>,
  key: CallKey | undefined,
): Promise<Draft> => {
  const begun = await resume(pool, key);
  const createdAt = begun === null ? null : await resumeRefund(pool, begun);
  if (begun !== null && createdAt !== null) return { ...refund, refund_id: begun, created_at: createdAt };
  const draft = { ...refund, refund_id: newId('ref'), created_at: clock() };
  await inOneCommit(pool, key, async (tx) => {
    await insertRefund(tx, { ...draft, pending_until: draft.created_at + REFUND_LIFE_MS });
    await begin(tx, key, draft.refund_id);
  });
  return draft;
};

/**
 * POST /v1/refunds. The row is inserted before the amount is reserved, so that every reservation
 * has a row by which it can be released.
 */
export const createRefund =
  (deps: Deps): Handler<typeof funding.operations.createRefund> =>
  async ({ settlement_id, amount = null, reason = null }, caller, key) => {
    const vendor_account_id = caller.account_id;
    const refund = { settlement_id, vendor_account_id, reason };
    const draft = await beginRefund(deps, refund, key);
    await failpoint('funding.afterBegun');
    const reservation = await reserve(deps, draft, amount, { caller, key });
    try {
      return await open(deps, draft, reservation, { caller, key });
    } catch (error) {
      await abandonRefund(deps, draft.refund_id, { key, reserved: true });
      throw error;
    }
  };
