import type { Records } from '../../../shared/boot.ts';
import { accountFrozen } from '../../../shared/contract/errors.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { recordAccepted } from '../core/accept.ts';
import type { TermsCache } from '../core/terms-cache.ts';
import { type AccruedFeeRule, accruedFeeMicro } from '../fee-accounts/model.ts';
import type { Peers } from '../peers.ts';
import {
  findByExternalId,
  findByMessage,
  type IncomingRow,
  isQuotePaid,
  type NewIncomingPayment,
} from '../record/store/incoming/incoming-payments.ts';
import type { ServiceTerms } from '../terms.ts';
import type { Refusal } from './model/refusal.ts';
import { type IncomingOrder, paymentOf } from './order.ts';
import { INCOMING, PROTOCOLS } from './rail.ts';
import type { IncomingGroupCommit } from './store/group-commit.ts';

type Checked = Extract<Awaited<ReturnType<Peers['checkIncoming']>>, { outcome: 'accepted' }>;

export type AcceptDeps = Pick<Records, 'pool' | 'clock'> &
  Pick<ServiceTerms, 'feeWallet'> &
  Pick<Peers, 'checkIncoming' | 'findService' | 'isFrozen'> & {
    terms: TermsCache;
    accruedFee: AccruedFeeRule;
    group: IncomingGroupCommit;
    isPaused: () => Promise<boolean>;
  };

export const isRefusal = <T extends object>(value: T | Refusal): value is Refusal => 'reason' in value;

/** Checks and simulates the bytes of a new payment. Nothing is written. */
export const check = async (
  { checkIncoming, feeWallet }: Pick<AcceptDeps, 'checkIncoming' | 'feeWallet'>,
  order: IncomingOrder,
): Promise<Checked | Refusal> => {
  const checked = await checkIncoming({ ...paymentOf(order, feeWallet), simulate: true });
  return checked.outcome === 'refused' ? { reason: checked.reason, message: checked.message } : checked;
};

/**
 * Why a vendor gets no new payment at the moment, or null. Its state is read again: the call may be
 * old, and its owner has closed or an operator has frozen it meanwhile.
 */
const findHindrance = async (
  { findService, isFrozen, isPaused }: Pick<AcceptDeps, 'findService' | 'isFrozen' | 'isPaused'>,
  { vendor }: IncomingOrder,
): Promise<Refusal | null> => {
  const [service, frozen, paused] = await Promise.all([
    findService(vendor.serviceId),
    isFrozen(vendor.accountId),
    isPaused(),
  ]);
  if (vendor.frozen || frozen) return { reason: 'vendor_frozen', message: accountFrozen().message };
  if (vendor.closing || service?.status !== 'active')
    return { reason: 'service_closing', message: 'the service is closing and accepts no new payments' };
  return paused ? { reason: 'signing_paused', message: 'new payments are paused; try again later' } : null;
};

/** The reason why a checked order cannot become a settlement at the moment, or null. */
export const findConflict = async (
  deps: Pick<AcceptDeps, 'pool' | 'findService' | 'isFrozen' | 'isPaused'>,
  order: IncomingOrder,
  { source_account }: Checked,
): Promise<Refusal | null> => {
  const hindrance = await findHindrance(deps, order);
  const { externalId, link, vendor } = order;
  if (hindrance !== null) return hindrance;
  if (link !== null) return (await isQuotePaid(deps.pool, link.quoteId)) ? QUOTE_SETTLED : null;
  if (externalId === null) return null;
  const key = { service_id: vendor.serviceId, source_account, external_id: externalId };
  return (await findByExternalId(deps.pool, key)) === null ? null : IDENTIFIER_TAKEN;
};

const IDENTIFIER_TAKEN: Refusal = {
  reason: 'payment_identifier_conflict',
  message: 'another payment has this payment-identifier',
};
export const QUOTE_SETTLED: Refusal = {
  reason: 'quote_settled',
  message: 'the quote is paid or being paid by another payment',
};
const TOO_MANY_OPEN: Refusal = {
  reason: 'too_many_open',
  message:
    'too many payments by phones wait for their wallets; open the page in the browser of your wallet, or scan again in a minute',
};
const NO_CREDIT: Refusal = {
  reason: 'facilitator_credit_exhausted',
  message:
    'the accrued fees of this vendor exceed its credit: the vendor pays them in the console or by POST /v1/accounts/me/fee-quote',
};

/** An order without a settlement, and the id that its settlement gets. */
type NewOrder = { settlementId: string; hash: string; checked: Checked };

const newPayment = (
  order: IncomingOrder,
  { settlementId, hash, checked, rule }: NewOrder & { rule: AccruedFeeRule },
): NewIncomingPayment => ({
  settlement_id: settlementId,
  rail: order.rail,
  vendor_account_id: order.vendor.accountId,
  service_id: order.vendor.serviceId,
  service_name: order.vendor.serviceName,
  payout_address: order.vendor.payoutAddress,
  quote_amount: order.amountMicro,
  fee_amount: order.feeMicro,
  accrued_fee:
    PROTOCOLS[order.rail].fee === 'accrues'
      ? accruedFeeMicro(order.amountMicro, BigInt(checked.lamports), rule)
      : 0n,
  message_hash: hash,
  memo: order.memo,
  payer_address: checked.payer,
  source_account: checked.source_account,
  external_id: order.externalId,
  resource: order.resource,
  quote_id: order.link?.quoteId ?? null,
  scope: order.link?.scope ?? null,
  page_handle: order.link?.pageHandle ?? null,
  signs_last: order.signsLast !== undefined,
  asked_from: order.signsLast?.askedFrom ?? null,
});

/**
 * How often an order is evaluated whose payment-identifier or quote is taken by a payment that has
 * failed when it is looked for.
 */
const ROUNDS = 5;

/**
 * Inserts the settlement of a new order, or finds the one that a concurrent call has inserted.
 * @returns `isNew`: this call has inserted it
 */
export const acceptNew = async (
  deps: AcceptDeps,
  order: IncomingOrder,
  one: NewOrder,
): Promise<{ row: IncomingRow; isNew: boolean } | Refusal> => {
  const { pool, group } = deps;
  for (let round = 0; round < ROUNDS; round++) {
    const conflict = await findConflict(deps, order, one.checked);
    if (conflict !== null) return conflict;
    await failpoint('settlement.beforeAccept');
    const payment = newPayment(order, { ...one, rule: deps.accruedFee });
    const inserted = await (order.signsLast === undefined
      ? group.insert(payment)
      : group.insertLast(order.link!.paymentLinkId, payment));
    if (inserted === 'too_many_open') return TOO_MANY_OPEN;
    if (inserted === 'no_credit') return NO_CREDIT;
    if (inserted !== 'taken') {
      await recordAccepted(deps, INCOMING, inserted);
      return { row: inserted, isNew: true };
    }
    const row = await findByMessage(pool, one.hash);
    if (row !== null) return { row, isNew: false };
  }
  return order.link === null ? IDENTIFIER_TAKEN : QUOTE_SETTLED;
};
