import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Break } from '../break.ts';
import { failureInvariants } from '../checks/failed-on-chain.ts';
import { notOnTheChain } from '../checks/final-records.ts';
import { untrueAboutMessages } from '../checks/message-refusals.ts';
import type { Disturbances } from '../traffic.ts';
import type { FinalState } from './final-state.ts';
import { isDelivered, type Log, type Payment, type Purchase, refusalsOf } from './log.ts';
import { FIXED_PRICE } from './shop.ts';

/** The final state of a campaign, which the invariants check. */
export type Case = Disturbances & { log: Log; finalState: FinalState };

const transfersOf = ({ finalState }: Case, { hash }: Payment) =>
  finalState.transfers.filter((transfer) => transfer.hash === hash);

/** Removed by a fork for good, and recorded as such. */
const isReversed = ({ finalState, forks }: Case, { hash }: Payment): boolean =>
  forks > 0 && finalState.byMessage.get(hash)?.chain_status === 'failed';

const isIncoming = ({ dialect }: Purchase): boolean => dialect !== 'quittance';

const paymentsOf = (of: Case, { payments }: Purchase) =>
  payments.flatMap((payment) => transfersOf(of, payment));

const shown = ({ number, dialect, payments, answers }: Purchase): string =>
  `purchase ${number} (${dialect}), messages ${payments.map(({ hash }) => hash).join(' ')}, answers ${answers
    .map(({ status, body }) => `${status ?? 'none'} ${body.slice(0, 120)}`)
    .join(' | ')}`;

const invariants: Record<string, (of: Case) => string[]> = {
  /** A client signs again after a 402, so no payment that got one was or will be made. */
  'refusal-is-unpaid': (of) =>
    of.log.payments
      .filter((payment) => refusalsOf(payment).length > 0 && transfersOf(of, payment).length > 0)
      .map(({ purchase }) => shown(purchase)),

  /** What the API told the shop about a payment, at any of its calls. */
  'refusals-are-true': ({ log, finalState: { settlements } }) =>
    untrueAboutMessages(
      log.refusals,
      settlements.filter(({ rail }) => rail === 'x402' || rail === 'mpp'),
    ),

  'message-is-paid-once': (of) =>
    of.log.payments
      .filter((payment) => transfersOf(of, payment).length > 1)
      .map(({ purchase }) => shown(purchase)),

  'purchase-is-paid-once': (of) =>
    of.log.purchases.filter((purchase) => paymentsOf(of, purchase).length > 1).map(shown),

  /** What was paid was delivered, whatever was changed meanwhile. */
  'paid-is-delivered': (of) =>
    of.log.purchases
      .filter((purchase) => paymentsOf(of, purchase).length > 0 && !isDelivered(purchase))
      .map(shown),

  /** What was delivered was paid, unless a fork removed the payment for good. */
  'delivered-is-paid': (of) =>
    of.log.purchases
      .filter((purchase) => isIncoming(purchase) && isDelivered(purchase))
      .filter(({ payments }) => !payments.some((payment) => isReversed(of, payment)))
      .filter((purchase) => paymentsOf(of, purchase).length !== 1)
      .map(shown),

  /** Every buyer of a purchase reads the same delivery, however often it asks. */
  'one-delivery-per-payment': ({ log }) =>
    log.purchases
      .filter(
        ({ answers }) =>
          new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body)).size > 1,
      )
      .map(shown),

  /** A buyer with the paying fetch has paid the price once for each delivery, and nothing else. */
  'own-buyers-pay-for-deliveries': (of) =>
    [...of.finalState.ownPayments].flatMap(([buyer, spent]) => {
      const delivered = of.log.purchases.filter((each) => each.buyer === buyer && isDelivered(each)).length;
      const reversed = of.finalState.settlements.filter(
        ({ rail, status, chain_status }) =>
          rail === 'quittance' && status === 'redeemed' && chain_status === 'failed',
      ).length;
      const isRight =
        spent.every(({ amount }) => amount === -FIXED_PRICE) &&
        spent.length <= delivered &&
        spent.length >= delivered - (of.forks > 0 ? reversed : 0);
      return isRight ? [] : [`${buyer} has ${delivered} deliveries and ${spent.length} payments`];
    }),

  ...failureInvariants,

  /** What failed on chain was never delivered. */
  'failed-on-chain-is-refused': (of) =>
    of.finalState.failed.emptied.flatMap(({ signature, hash }) => {
      const payment = of.log.payments.find((each) => each.hash === hash);
      if (payment === undefined) return [`${signature} is of no payment`];
      const isRefused = payment.answers.every(({ status }) => status !== 200);
      return isRefused ? [] : [`${signature} failed: ${shown(payment.purchase)}`];
    }),

  /** Our fee payer signs no payment of another client that names a reference. */
  'no-payment-names-a-reference': ({ log, finalState: { byMessage } }) =>
    log.poisoned.named
      .filter(({ transaction, success }) => success || byMessage.has(messageHashOf(transaction) ?? ''))
      .map(({ transaction, reason }) => `${messageHashOf(transaction)} was accepted (${reason})`),

  /** Every transfer to the shop is recorded, as final. */
  'chain-is-in-the-records': ({ finalState: { transfers, byTransaction } }) =>
    transfers
      .filter(({ signature }) => byTransaction.get(signature)?.chain_status !== 'finalized')
      .map(({ signature, amount }) => `${signature} moved ${amount}`),

  'records-are-on-the-chain': ({ finalState: { settlements, transfers } }) => {
    const signatures = new Set(transfers.map(({ signature }) => signature));
    return notOnTheChain(settlements, (signature) => signatures.has(signature));
  },
};

/** Checks every invariant against the case. */
export const judge = (of: Case): Omit<Break, 'traffic'>[] =>
  Object.entries(invariants).flatMap(([invariant, check]) => check(of).map((what) => ({ invariant, what })));
