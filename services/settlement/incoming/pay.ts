import type { Waiting } from '../../../shared/bus/wake.ts';
import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { asOpen } from '../core/as-open.ts';
import { carryOut, type NotAccepted } from '../core/carry-out.ts';
import { POLL_MS, waitForEnd, withWaiter } from '../core/wait.ts';
import type { Peers } from '../peers.ts';
import { type ApplyProgress, refusedProgress } from '../record/model/progress.ts';
import { findByMessage, type IncomingRow } from '../record/store/incoming/incoming-payments.ts';
import { type AcceptDeps, acceptNew, check, isRefusal } from './accept-new.ts';
import { findLost, type LostDeps } from './lost.ts';
import { moneyMovedFor, type Refusal, type Refused } from './model/refusal.ts';
import { type Presented, recordedPaymentOf } from './order.ts';
import { INCOMING } from './rail.ts';
import type { IncomingGroupCommit } from './store/group-commit.ts';

export type PayDeps = AcceptDeps &
  LostDeps &
  Pick<Peers, 'submitIncoming'> & {
    waiting: Waiting;
    applyProgress: ApplyProgress;
  };

/** `ended`: its settlement is no longer pending. */
type Outcome<R> =
  | Refused<R>
  | { kind: 'ended'; row: IncomingRow }
  | { kind: 'pending'; row: IncomingRow; txHash: string | null };

export const NO_MESSAGE: Refusal = {
  reason: 'transaction_could_not_be_decoded',
  message: 'the bytes of the transaction hold no message',
};
const OTHER_SERVICE: Refusal = {
  reason: 'other_service',
  message: 'this transaction has paid another service',
};

/** A refusal, whose `money_moved` comes from the record of the payment and from nowhere else. */
export const refusedBy = <R>(
  { vendor }: Pick<Presented<R>, 'vendor'>,
  refusal: R,
  row: IncomingRow | null,
): Refused<R> => ({
  kind: 'refused',
  refusal,
  moved: moneyMovedFor(row, vendor.serviceId),
});

/** What is known of a presented transaction. A null hash: it has no message. */
export const findKnown = async (
  group: Pick<IncomingGroupCommit, 'find'>,
  { transaction }: Pick<Presented<unknown>, 'transaction'>,
): Promise<{ hash: string | null; row: IncomingRow | null }> => {
  const hash = messageHashOf(transaction);
  return { hash, row: hash === null ? null : await group.find(hash) };
};

/**
 * Refuses a payment that is not the request's: of another service, or for something else. Null: it
 * is the request's. A failed one counts for nothing, whatever it was for.
 */
export const refuseOther = <R>(request: Presented<R>, row: IncomingRow): Refused<R> | null => {
  if (row.service_id !== request.vendor.serviceId)
    return refusedBy(request, request.refuse(OTHER_SERVICE), row);
  const mismatch = row.status === 'failed' ? null : request.mismatch(row);
  return mismatch === null ? null : refusedBy(request, mismatch, row);
};

/** The columns of a payment that is issued, as the event's record names them (ConfirmedRow). */
type Issued = Pick<IncomingRow, 'settlement_id' | 'status' | 'tx_hash'>;

type Waited = { row: IncomingRow; woken: Promise<unknown> | null; until: number };

const withEnd = (row: IncomingRow, txHash: string | null) =>
  row.status === 'pending' ? ({ kind: 'pending', row, txHash } as const) : ({ kind: 'ended', row } as const);

/**
 * Submits a pending payment by its own columns, which any call may repeat, and waits for its end.
 * @param woken of a waiter that was registered before the payment was inserted; null for a repeat
 * @throws ServiceError service_unavailable when chain-submitter does not answer: the outcome is
 *   unknown
 */
const submitAndWait = async <R>(
  deps: PayDeps,
  request: Presented<R>,
  { row, woken, until }: Waited,
): Promise<Outcome<R>> => {
  const { settlement_id } = row;
  const read = async () => (await findByMessage(deps.pool, row.message_hash)) ?? row;
  const submitted = await asOpen(
    deps.submitIncoming({
      ...recordedPaymentOf(row, request.transaction, deps.feeWallet),
      settlement_id,
      account_id: row.vendor_account_id!,
    }),
  );
  if (submitted.outcome === 'refused') {
    await deps.applyProgress(refusedProgress(settlement_id, submitted));
    const now = await read();
    const { reason, message } = submitted;
    return now.status === 'failed'
      ? refusedBy(request, request.refuse({ reason, message }), now)
      : withEnd(now, now.tx_hash);
  }
  // With the record of the event, the row needs no read.
  const issued = (await woken) as Issued | null | undefined;
  if (issued && issued.status !== 'pending') {
    const { status, tx_hash } = issued;
    return { kind: 'ended', row: { ...row, status, tx_hash, chain_status: 'confirmed' } };
  }
  const ended = await waitForEnd(deps, settlement_id, { read, until });
  return withEnd(ended, submitted.tx_hash);
};

/** A recorded payment. While it is pending, its request waits for it whatever it asks for. */
const payKnown = async <R>(deps: PayDeps, request: Presented<R>, known: Waited): Promise<Outcome<R>> => {
  const { row } = known;
  const isOwn = row.service_id === request.vendor.serviceId;
  const outcome =
    isOwn && row.status === 'pending'
      ? await submitAndWait(deps, request, known)
      : ({ kind: 'ended', row } as const);
  if (outcome.kind !== 'ended') return outcome;
  return refuseOther(request, outcome.row) ?? outcome;
};

/**
 * Accepts and submits a payment that has no record yet.
 * @returns a refusal when nothing was written
 */
const payNew = async <R>(
  deps: PayDeps,
  request: Presented<R>,
  { hash, until }: { hash: string | null; until: number },
): Promise<Outcome<R> | NotAccepted<R>> => {
  const order = await request.orderNow();
  if ('refused' in order) return order;
  if (hash === null) return { refused: request.refuse(NO_MESSAGE) };
  const checked = await asOpen(check(deps, order));
  if (isRefusal(checked)) return { refused: request.refuse(checked) };
  return withWaiter(deps, POLL_MS, async ({ settlementId, woken }) => {
    const accepted = await acceptNew(deps, order, { settlementId, hash, checked });
    if (isRefusal(accepted)) return { refused: request.refuse(accepted) };
    const { row, isNew } = accepted;
    return payKnown(deps, request, { row, woken: isNew ? woken : null, until });
  });
};

/**
 * Carries out a payment once, however often it is presented: the signed message identifies it, and
 * a recorded payment is judged by its record alone (docs/adr/0043).
 * @param until process time (performance.now) at which the call answers `pending`
 */
export const pay = async <R>(deps: PayDeps, request: Presented<R>, until: number): Promise<Outcome<R>> => {
  const { hash, row } = await findKnown(deps.group, request);
  if (row !== null) return payKnown(deps, request, { row, woken: null, until });
  return carryOut<Outcome<R>, R, { known: IncomingRow | null }>(INCOMING, {
    acceptNew: () => payNew(deps, request, { hash, until }),
    readRecords: async () => ({ known: hash === null ? null : await findByMessage(deps.pool, hash) }),
    repeat: (known) => payKnown(deps, request, { row: known, woken: null, until }),
    findLost: () => findLost(deps, request),
    refuse: async (refusal) => refusedBy(request, refusal, null),
  });
};
