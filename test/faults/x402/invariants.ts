import { accruedFeeMicro } from '../../../services/settlement/fee-accounts/model.ts';
import type { Break } from '../break.ts';
import { failureInvariants } from '../checks/failed-on-chain.ts';
import { notOnTheChain } from '../checks/final-records.ts';
import { untrueAboutMessages } from '../checks/message-refusals.ts';
import type { Disturbances } from '../traffic.ts';
import type { FinalState } from './final-state.ts';
import { type Answer, type Log, type Payment, priceOf, successesOf } from './log.ts';

/** The final state of a campaign, which the invariants check. */
export type Case = Disturbances & { log: Log; finalState: FinalState };

/**
 * A gateway that dies between an answer and its confirmation (docs/adr/0043) dies within this time
 * after the answer. Before: an answer is logged a little later than it was sent.
 */
const CONFIRMED_MS = 5000;
const LOGGED_MS = 1000;
/** Settlement's own settings. */
const FEES = { bps: 50n, minMicro: 2000n, solPriceMicro: 200_000_000n };

const transfersOf = ({ finalState }: Case, { hash }: Payment) =>
  finalState.transfers.filter((transfer) => transfer.hash === hash);

/** What the configuration or the credit of a moment refuses. */
const OF_THE_MOMENT = /^facilitator_(account_frozen|credit_exhausted)|closing|recipient_mismatch/;

/**
 * A copy that is presented at the same time may be judged by the configuration or the credit of the
 * next moment. Its buyer waits for the answers to all copies.
 */
const isOvertaken = (answer: Answer, answers: readonly Answer[]): boolean =>
  OF_THE_MOMENT.test(answer.reason) &&
  answers.some((other) => other !== answer && other.askedAt <= answer.at && other.at >= answer.askedAt);

/** Removed by a fork for good, and recorded as such. */
const isReversed = ({ finalState, forks }: Case, { hash }: Payment): boolean =>
  forks > 0 && finalState.settlements.get(hash)?.chain_status === 'failed';

const gatewayDied = ({ deaths }: Case, { gateway, at }: Answer): boolean =>
  deaths.some((death) => death.name === gateway && death.at > at - LOGGED_MS && death.at < at + CONFIRMED_MS);

/**
 * How many successes of a payment a dead gateway explains, and how many neither that nor a reissue
 * does.
 */
const repeatedSuccesses = (of: Case, payment: Payment): { window: number; unexplained: number } => {
  const all = successesOf(payment).sort((a, b) => a.at - b.at);
  const repeated = all.slice(0, -1);
  const window = repeated.filter((answer) => gatewayDied(of, answer)).length;
  return { window, unexplained: Math.max(0, repeated.length - window - payment.reissued.size) };
};

/** Payments whose success was handed out again after a gateway had died. */
export const windowCases = (of: Case): number =>
  of.log.payments.reduce((sum, payment) => sum + repeatedSuccesses(of, payment).window, 0);

/** Paid, and no vendor got a success. */
export const undelivered = (of: Case): Payment[] =>
  of.log.payments.filter(
    (payment) => transfersOf(of, payment).length > 0 && successesOf(payment).length === 0,
  );

/** The transactions that failed on chain because their owners moved the money away. */
const failuresOn = ({ finalState, log }: Case) =>
  finalState.failed.emptied.map((failure) => ({
    failure,
    payment: log.payments.find(({ hash }) => hash === failure.hash),
  }));

const shown = ({ hash, purchase, answers }: Payment): string =>
  `purchase ${purchase.number}, message ${hash}, answers ${answers
    .map(({ kind, gateway, status, reason }) => `${kind} (${gateway} ${status ?? 'none'}: ${reason})`)
    .join(', ')}`;

const invariants: Record<string, (of: Case) => string[]> = {
  /** No failure was answered for a payment whose transfer is on the chain. */
  'failure-is-unpaid': (of) =>
    of.log.payments
      .filter(({ answers }) =>
        answers.some((answer) => answer.kind === 'failure' && !isOvertaken(answer, answers)),
      )
      .filter((payment) => transfersOf(of, payment).length > 0)
      .map(shown),

  /** A payment is called refunded only after its vendor has asked for the refund. */
  'refunded-is-true': ({ log }) =>
    log.payments
      .filter(({ answers, refundAskedAt = Number.POSITIVE_INFINITY }) =>
        answers.some(({ kind, at }) => kind === 'refunded' && at < refundAskedAt),
      )
      .map(shown),

  /** No answer says that no money moved while the message has a settlement that has not failed. */
  'refusals-are-true': ({ log, finalState: { settlements } }) =>
    untrueAboutMessages(
      log.payments.flatMap(({ hash, answers }) =>
        answers
          .filter(({ moneyMoved }) => moneyMoved !== undefined)
          .map(({ reason: code, askedAt, at, moneyMoved }) => ({ hash, code, askedAt, at, moneyMoved })),
      ),
      settlements.values(),
    ),

  /** A success has exactly one transfer of the price, unless a fork removed it for good. */
  'success-is-paid-once': (of) =>
    of.log.payments
      .filter((payment) => successesOf(payment).length > 0)
      .filter((payment) => transfersOf(of, payment).length !== (isReversed(of, payment) ? 0 : 1))
      .map((payment) => `${transfersOf(of, payment).length} transfers: ${shown(payment)}`),

  'message-is-paid-once': (of) =>
    of.log.payments.filter((payment) => transfersOf(of, payment).length > 1).map(shown),

  /** A buyer pays a purchase once, because it signs again only after a failure. */
  'purchase-is-paid-once': (of) =>
    of.log.purchases
      .filter(({ payments }) => payments.flatMap((payment) => transfersOf(of, payment)).length > 1)
      .map(({ number, payments }) => `purchase ${number}: ${payments.map(shown).join('; ')}`),

  /** Its success is handed out once, unless the gateway died before it confirmed that. */
  'success-is-handed-out-once': (of) =>
    of.log.payments
      .filter((payment) => repeatedSuccesses(of, payment).unexplained > 0)
      .map((payment) => {
        const times = successesOf(payment).map(
          ({ at, gateway }) => `${new Date(at).toISOString()} ${gateway}`,
        );
        return `${times.join(', ')}: ${shown(payment)}`;
      }),

  /** What was paid and not delivered is listed for the vendor, or was handed out. */
  'undelivered-is-listed': (of) =>
    undelivered(of)
      .filter(({ hash }) => {
        const row = of.finalState.settlements.get(hash);
        return row?.status !== 'redeemed' && !of.finalState.issued.has(row?.settlement_id ?? '');
      })
      .map(shown),

  /** Every transfer to a vendor is that of a signed payment, moves its price, and is recorded. */
  'chain-is-in-the-records': ({ log, finalState }) => {
    const signed = new Map(log.payments.map((payment) => [payment.hash, payment]));
    return finalState.transfers
      .filter(({ hash, owner, amount, signature }) => {
        const row = finalState.settlements.get(hash ?? '');
        const payment = signed.get(hash ?? '');
        const isOwn =
          payment?.offer.requirements.payTo === owner &&
          amount === priceOf(payment) &&
          finalState.recorded.has(signature);
        return !isOwn || row?.tx_hash !== signature || row.chain_status !== 'finalized';
      })
      .map(({ signature, amount }) => `${signature} moved ${amount}`);
  },

  'records-are-on-the-chain': ({ finalState: { settlements, transfers } }) => {
    const signatures = new Set(transfers.map(({ signature }) => signature));
    return notOnTheChain([...settlements.values()], (signature) => signatures.has(signature));
  },

  /** Every transfer from a vendor is a refund that is recorded as final, and the reverse. */
  'refunds-equal-the-records': ({ finalState: { refunds, recordedRefunds } }) => {
    const onChain = new Set(refunds.map(({ signature }) => signature));
    return [
      ...refunds
        .filter(({ signature, amount }) => recordedRefunds.get(signature)?.amount !== `${-amount}`)
        .map(({ signature, amount }) => `${signature} moved ${amount}`),
      ...[...recordedRefunds.keys()]
        .filter((signature) => !onChain.has(signature))
        .map((signature) => `${signature} is not on the chain`),
    ];
  },

  /** No payment is refunded twice, nor beyond what it moved. */
  'refunded-at-most-once': ({ finalState: { refunds, recordedRefunds, settlements } }) => {
    const refunded = new Map<string, bigint>();
    for (const { signature, amount } of refunds) {
      const id = recordedRefunds.get(signature)?.settlement_id ?? signature;
      refunded.set(id, (refunded.get(id) ?? 0n) - amount);
    }
    const prices = new Map([...settlements.values()].map((row) => [row.settlement_id, row.quote_amount]));
    return [...refunded]
      .filter(([id, amount]) => amount > BigInt(prices.get(id) ?? 0))
      .map(([id, amount]) => `${amount} of ${id} are refunded`);
  },

  /** A payout address has the price of each included payment, less what it refunded. */
  'balances-equal-the-payments': ({ log, finalState: { balances, refunds, transfers } }) => {
    const included = new Set(transfers.map(({ hash }) => hash));
    return balances.flatMap(({ owner, amount }) => {
      const paid = log.payments
        .filter(({ hash, offer }) => offer.requirements.payTo === owner && included.has(hash))
        .reduce((sum, payment) => sum + priceOf(payment), 0n);
      const back = refunds.filter((each) => each.owner === owner);
      const refunded = back.reduce((sum, each) => sum - each.amount, 0n);
      return amount === paid - refunded
        ? []
        : [`${owner} has ${amount}, its payments are ${paid}, refunded ${refunded}`];
    });
  },

  /** A vendor accrues the fee of each of its transactions on the chain, failed ones too. */
  'fees-equal-the-payments': ({ log, finalState: { fees, failed, transfers, settlements } }) => {
    const all = [...transfers, ...failed.emptied, ...failed.unexplained];
    const included = new Map(all.map((each) => [each.hash, each]));
    const feeOf = (payment: Payment): bigint => {
      const transaction = included.get(payment.hash);
      return transaction ? accruedFeeMicro(priceOf(payment), transaction.lamports, FEES) : 0n;
    };
    return fees.flatMap(({ name, accrued }) => {
      const payments = log.payments.filter(({ purchase: { vendor } }) => vendor.name === name);
      const sum = payments.reduce((total, payment) => total + feeOf(payment), 0n);
      if (accrued === sum) return [];
      const wrong = payments.flatMap((payment) => {
        const row = settlements.get(payment.hash);
        const fee = feeOf(payment);
        if (BigInt(row?.accrued_fee ?? 0) === fee) return [];
        const { settlement_id = payment.hash, accrued_fee, status, tx_hash, failure_message } = row ?? {};
        return [
          `${settlement_id} accrued ${accrued_fee}, not ${fee} (${status}, ${tx_hash}, ${failure_message})`,
        ];
      });
      return [`${name} accrued ${accrued}, and its payments ${sum}: ${wrong.join('; ')}`];
    });
  },

  /** What a vendor has paid in fees is what its wallet has lost. */
  'paid-fees-equal-the-transfers': ({ finalState: { fees } }) =>
    fees
      .filter(({ paid, lost }) => paid !== lost)
      .map(({ name, paid, lost }) => `${name} has paid ${paid}, and its wallet has lost ${lost}`),

  ...failureInvariants,

  /** What failed on chain was never delivered, and its buyer has heard that no money moved. */
  'failed-on-chain-is-refused': (of) =>
    failuresOn(of).flatMap(({ failure: { signature }, payment }) => {
      if (payment === undefined) return [`${signature} is of no payment`];
      const isRefused = payment.answers.every(
        ({ kind, moneyMoved }) =>
          ['unknown', 'pending', 'other'].includes(kind) || (kind === 'failure' && moneyMoved === 'no'),
      );
      return isRefused ? [] : [`${signature} failed: ${shown(payment)}`];
    }),
};

/** Checks every invariant against the case. */
export const judge = (of: Case): Omit<Break, 'traffic'>[] =>
  Object.entries(invariants).flatMap(([invariant, check]) => check(of).map((what) => ({ invariant, what })));
