import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import type { chainSubmitter, ForeignReason, Progress } from '../../../shared/contract/chain-submitter.ts';
import { accountFrozen } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { type AccruedFeeRule, accruedFeeMicro } from '../fee-accounts/model.ts';
import {
  type ForeignRow,
  findByExternalId,
  findByMessage,
  type NewForeignPayment,
} from '../settlements/store/foreign-payments.ts';
import type { TermsCache } from '../settlements/terms-cache.ts';
import type { ForeignGroupCommit } from './group-commit.ts';
import { messageHashOf } from './message-hash.ts';
import type { Vendor } from './vendor.ts';

type Internal = typeof chainSubmitter.internal;
type CallOf<N extends 'checkForeign' | 'submitForeign'> = (
  input: z.infer<Internal[N]['input']>,
) => Promise<z.infer<Internal[N]['output']>>;
type Checked = Extract<z.infer<Internal['checkForeign']['output']>, { outcome: 'accepted' }>;

/** A payment that a client of another protocol has signed, and what it must do. */
export type ForeignOrder = {
  rail: 'x402' | 'mpp';
  vendor: Vendor;
  amountMicro: bigint;
  /** The part that the transaction transfers to the fee wallet. Zero: the fee accrues. */
  feeMicro: bigint;
  /** The exact memos. Null: the offer names none. */
  memos: readonly string[] | null;
  transaction: string;
  externalId: string | null;
  resource: string | null;
};

/** Why an order is refused. Nothing was written, signed or moved. */
export type Refusal = {
  reason:
    | ForeignReason
    | 'payment_identifier_conflict'
    | 'facilitator_credit_exhausted'
    | 'vendor_frozen'
    | 'other_service';
  message: string;
};
/** `ended`: its settlement is no longer pending. */
type Outcome =
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'ended'; row: ForeignRow }
  | { kind: 'pending'; row: ForeignRow; txHash: string };

export type PayDeps = {
  pool: Pool;
  clock: Clock;
  waiting: Waiting;
  terms: TermsCache;
  feeWallet: string;
  accruedFee: AccruedFeeRule;
  group: ForeignGroupCommit;
  checkForeign: CallOf<'checkForeign'>;
  submitForeign: CallOf<'submitForeign'>;
  /** Records a progress that is known without its event. */
  applyProgress: (progress: Progress) => Promise<void>;
  isPaused: () => Promise<boolean>;
};

/** `wake` reaches the replica that accepted the payment. A repeat on another one polls the row. */
const POLL_MS = 1000;

const refused = (reason: Refusal['reason'], message: string) => ({
  kind: 'refused' as const,
  refusal: { reason, message },
});

/** The transaction with its transfers, as chain-submitter checks them. */
const paymentOf = (
  { vendor, amountMicro, feeMicro, memos, transaction }: ForeignOrder,
  feeWallet: string,
) => ({
  transaction,
  legs: [
    { owner: vendor.payoutAddress, amount: formatMicro(amountMicro - feeMicro) },
    ...(feeMicro > 0n ? [{ owner: feeWallet, amount: formatMicro(feeMicro) }] : []),
  ],
  memos: memos === null ? null : [...memos],
});

/** What is known of an order: its settlement, if there is one, and what the bytes say. */
type Inspected = { kind: 'known'; row: ForeignRow } | { kind: 'new'; hash: string; checked: Checked };

/** A settlement of the order's service. Another service cannot claim it. */
const ofVendor = ({ vendor }: ForeignOrder, row: ForeignRow) =>
  row.service_id === vendor.serviceId
    ? { kind: 'known' as const, row }
    : refused('other_service', 'this transaction has paid another service');

/**
 * Checks an order against its bytes, then reads its record. A new payment is simulated too. Nothing
 * is written.
 */
export const inspect = async (
  { group, checkForeign, feeWallet }: Pick<PayDeps, 'group' | 'checkForeign' | 'feeWallet'>,
  order: ForeignOrder,
): Promise<Inspected | Extract<Outcome, { kind: 'refused' }>> => {
  const hash = messageHashOf(order.transaction);
  if (hash === null)
    return refused('transaction_could_not_be_decoded', 'the bytes of the transaction hold no message');
  const row = await group.find(hash);
  const checked = await checkForeign({ ...paymentOf(order, feeWallet), simulate: row === null });
  if (checked.outcome === 'refused') return refused(checked.reason, checked.message);
  return row === null ? { kind: 'new', hash, checked } : ofVendor(order, row);
};

/** The reason why a checked order cannot become a settlement at the moment, or null. */
export const findConflict = async (
  { pool, isPaused }: Pick<PayDeps, 'pool' | 'isPaused'>,
  { externalId, vendor }: ForeignOrder,
  { source_account }: Checked,
): Promise<Extract<Outcome, { kind: 'refused' }> | null> => {
  // Payments that were accepted before are still carried out.
  if (vendor.frozen) return refused('vendor_frozen', accountFrozen().message);
  if (await isPaused()) return refused('signing_paused', 'new payments are paused; try again later');
  if (externalId === null) return null;
  const key = { service_id: vendor.serviceId, source_account, external_id: externalId };
  return (await findByExternalId(pool, key)) === null
    ? null
    : refused('payment_identifier_conflict', 'another payment has this payment-identifier');
};

/** An order without a settlement, and the id that its settlement gets. */
type NewOrder = { settlementId: string; hash: string; checked: Checked };

const newPayment = (
  order: ForeignOrder,
  { settlementId, hash, checked, rule }: NewOrder & { rule: AccruedFeeRule },
): NewForeignPayment => ({
  settlement_id: settlementId,
  rail: order.rail,
  vendor_account_id: order.vendor.accountId,
  service_id: order.vendor.serviceId,
  service_name: order.vendor.serviceName,
  payout_address: order.vendor.payoutAddress,
  quote_amount: order.amountMicro,
  fee_amount: order.feeMicro,
  accrued_fee:
    order.rail === 'x402' ? accruedFeeMicro(order.amountMicro, BigInt(checked.lamports), rule) : 0n,
  message_hash: hash,
  payer_address: checked.payer,
  source_account: checked.source_account,
  external_id: order.externalId,
  resource: order.resource,
});

/** Inserts the settlement of a new order, or finds the one that a concurrent call has inserted. */
const accept = async (
  deps: PayDeps,
  order: ForeignOrder,
  one: NewOrder,
): Promise<{ kind: 'known' | 'inserted'; row: ForeignRow } | Extract<Outcome, { kind: 'refused' }>> => {
  const { pool, terms, group, clock } = deps;
  const conflict = await findConflict(deps, order, one.checked);
  if (conflict !== null) return conflict;
  const payment = newPayment(order, { ...one, rule: deps.accruedFee });
  await failpoint('settlement.beforeAccept');
  const inserted = await group.insert(payment);
  if (inserted === 'no_credit')
    return refused(
      'facilitator_credit_exhausted',
      'the accrued fees of this vendor exceed its credit: the vendor pays them in the console or by POST /v1/accounts/me/fee-quote',
    );
  if (inserted === 'taken') {
    const row = await findByMessage(pool, one.hash);
    if (row !== null) return ofVendor(order, row);
    // The payment-identifier belongs to another payment, which may have failed since: evaluate
    // again.
    return accept(deps, order, one);
  }
  count('quittance_settlements_total', 1, { outcome: 'accepted' });
  terms.addTerms({ ...inserted, scope: null, created_at: clock() });
  await failpoint('settlement.afterAccept');
  return { kind: 'inserted', row: inserted };
};

/**
 * The progress of a payment that chain-submitter has refused for good: nothing is signed for it.
 */
const refusedProgress = (
  settlementId: string,
  { reason, message }: { reason: ForeignReason; message: string },
): Progress => ({
  object_id: settlementId,
  status: 'failed',
  generation: 0,
  tx_hash: null,
  slot: null,
  failure: { code: reason === 'insufficient_funds' ? reason : 'payment_failed', message },
});

/** The columns of a payment that is issued, as the event's record names them (ConfirmedRow). */
type Issued = Pick<ForeignRow, 'settlement_id' | 'status' | 'tx_hash'>;

/**
 * Submits a pending payment, which any call may repeat, and waits for its end.
 * @param woken of a waiter that was registered before the payment was inserted; null for a repeat
 * @throws ServiceError service_unavailable when chain-submitter does not answer: the outcome is
 *   unknown
 */
const submitAndWait = async (
  deps: PayDeps,
  order: ForeignOrder,
  { row, woken, until }: { row: ForeignRow; woken: Promise<unknown> | null; until: number },
): Promise<Outcome> => {
  const { settlement_id } = row;
  const submitted = await deps.submitForeign({
    ...paymentOf(order, deps.feeWallet),
    settlement_id,
    account_id: order.vendor.accountId,
  });
  if (submitted.outcome === 'refused') {
    await deps.applyProgress(refusedProgress(settlement_id, submitted));
    return refused(submitted.reason, submitted.message);
  }
  // With the record of the event, the row needs no read.
  const issued = (await woken) as Issued | null | undefined;
  if (issued && issued.status !== 'pending')
    return { kind: 'ended', row: { ...row, status: issued.status, tx_hash: issued.tx_hash } };
  const ended = await readUntil(deps.waiting, settlement_id, {
    read: async () => (await findByMessage(deps.pool, row.message_hash)) ?? row,
    done: ({ status }) => status !== 'pending',
    timeoutMs: until - performance.now(),
    againMs: POLL_MS,
  });
  if (ended.status !== 'pending') return { kind: 'ended', row: ended };
  return { kind: 'pending', row: ended, txHash: submitted.tx_hash };
};

/** Inserts and submits an order that has no settlement yet. */
const payNew = async (
  deps: PayDeps,
  order: ForeignOrder,
  { hash, checked }: Omit<NewOrder, 'settlementId'>,
  until: number,
): Promise<Outcome> => {
  const settlementId = newId('stl');
  const waiter = deps.waiting.until(settlementId, POLL_MS);
  try {
    const accepted = await accept(deps, order, { settlementId, hash, checked });
    if (accepted.kind === 'refused') return accepted;
    const woken = accepted.kind === 'inserted' ? waiter.woken : null;
    return await payKnown(deps, order, { row: accepted.row, woken, until });
  } finally {
    waiter.cancel();
  }
};

const payKnown = async (
  deps: PayDeps,
  order: ForeignOrder,
  known: { row: ForeignRow; woken: Promise<unknown> | null; until: number },
): Promise<Outcome> => {
  const { row } = known;
  return row.status === 'pending' ? submitAndWait(deps, order, known) : { kind: 'ended', row };
};

/**
 * Carries out an order once, however often it is presented: the signed message identifies it
 * (docs/adr/0043).
 * @param until process time (performance.now) at which the call answers `pending`
 */
export const pay = async (deps: PayDeps, order: ForeignOrder, until: number): Promise<Outcome> => {
  const inspected = await inspect(deps, order);
  if (inspected.kind === 'refused') return inspected;
  return inspected.kind === 'known'
    ? payKnown(deps, order, { row: inspected.row, woken: null, until })
    : payNew(deps, order, inspected, until);
};
