import { type LedgerRow, ofMessage, untrueRefusals } from '../../support/refusals.ts';
import type { Break } from '../break.ts';
import { notOnTheChain } from '../final-records.ts';
import type { Disturbances } from '../traffic.ts';
import { PRICE } from './actors.ts';
import type { FinalState } from './final-state.ts';
import { type Answer, type Log, type Payment, successesOf } from './log.ts';

/** The final state of a campaign, which the invariants check. */
export type Case = Disturbances & { log: Log; finalState: FinalState };

/**
 * A gateway that dies between an answer and its confirmation (docs/adr/0043) dies within this time
 * after the answer. Before: an answer is logged a little later than it was sent.
 */
const CONFIRMED_MS = 5000;
const LOGGED_MS = 1000;

const transfersOf = ({ finalState }: Case, { hash }: Payment) =>
  finalState.transfers.filter((transfer) => transfer.hash === hash);

/** Removed by a fork for good, and recorded as such. */
const isReversed = ({ finalState, forks }: Case, { hash }: Payment): boolean =>
  forks > 0 && finalState.settlements.get(hash)?.chain_status === 'failed';

const gatewayDied = ({ deaths }: Case, { gateway, at }: Answer): boolean =>
  deaths.some((death) => death.name === gateway && death.at > at - LOGGED_MS && death.at < at + CONFIRMED_MS);

/** How many successes of a payment a dead gateway explains, and how many nothing does. */
const repeatedSuccesses = (of: Case, payment: Payment): { window: number; unexplained: number } => {
  const all = successesOf(payment).sort((a, b) => a.at - b.at);
  const repeated = all.slice(0, -1);
  const window = repeated.filter((answer) => gatewayDied(of, answer)).length;
  return { window, unexplained: repeated.length - window };
};

/** Payments whose success was handed out again after a gateway had died. */
export const windowCases = (of: Case): number =>
  of.log.payments.reduce((sum, payment) => sum + repeatedSuccesses(of, payment).window, 0);

/** Paid, and no vendor got a success. */
export const undelivered = (of: Case): Payment[] =>
  of.log.payments.filter(
    (payment) => transfersOf(of, payment).length > 0 && successesOf(payment).length === 0,
  );

const shown = ({ hash, purchase, answers }: Payment): string =>
  `purchase ${purchase.number}, message ${hash}, answers ${answers
    .map(({ kind, gateway, status, reason }) => `${kind} (${gateway} ${status ?? 'none'}: ${reason})`)
    .join(', ')}`;

const invariants: Record<string, (of: Case) => string[]> = {
  /** No failure was answered for a payment whose transfer is on the chain. */
  'failure-is-unpaid': (of) =>
    of.log.payments
      .filter(({ answers }) => answers.some(({ kind }) => kind === 'failure'))
      .filter((payment) => transfersOf(of, payment).length > 0)
      .map(shown),

  /** No answer says that no money moved while the message has a settlement that has not failed. */
  'refusals-are-true': ({ log, finalState: { settlements } }) => {
    const ofVendors = { accountId: 'the vendors' };
    const ledger = [...settlements.values()].map(
      (row): LedgerRow => ({
        ...ofVendors,
        settlementId: row.settlement_id,
        attemptId: row.message_hash,
        quoteId: row.message_hash,
        acceptedAt: row.accepted_at.getTime(),
        failedAt: row.status === 'failed' ? row.progressed_at.getTime() : null,
        paid: row.issued_at !== null,
      }),
    );
    const said = log.payments.flatMap(({ hash, answers }) =>
      answers
        .filter(({ moneyMoved }) => moneyMoved !== undefined)
        .map(({ reason, ...answer }) => ofMessage({ ...ofVendors, hash }, { ...answer, code: reason })),
    );
    return untrueRefusals(said, ledger).map(({ refusal, what }) => `${refusal.attemptId}: ${what}`);
  },

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
    const signed = new Set(log.payments.map(({ hash }) => hash));
    return finalState.transfers
      .filter(({ hash, amount, signature }) => {
        const row = finalState.settlements.get(hash ?? '');
        const isOwn = signed.has(hash ?? '') && amount === PRICE && finalState.recorded.has(signature);
        return !isOwn || row?.tx_hash !== signature || row.chain_status !== 'finalized';
      })
      .map(({ signature, amount }) => `${signature} moved ${amount}`);
  },

  'records-are-on-the-chain': ({ finalState: { settlements, transfers } }) => {
    const signatures = new Set(transfers.map(({ signature }) => signature));
    return notOnTheChain([...settlements.values()], (signature) => signatures.has(signature));
  },

  /** A vendor has the price of each included payment. */
  'balances-equal-the-payments': ({ finalState: { balances, transfers } }) =>
    balances
      .map(({ owner, amount }) => ({
        ...{ owner, amount },
        paid: PRICE * BigInt(transfers.filter((transfer) => transfer.owner === owner).length),
      }))
      .filter(({ amount, paid }) => amount !== paid)
      .map(({ owner, amount, paid }) => `${owner} has ${amount}, its payments are ${paid}`),

  /** A vendor accrues the fees of its payments that did not fail, or that failed on chain. */
  'fees-equal-the-payments': ({ finalState: { fees } }) =>
    fees
      .filter(({ accrued, ofSettlements }) => accrued !== ofSettlements)
      .map(({ payTo, accrued, ofSettlements }) => `${payTo} accrued ${accrued}, not ${ofSettlements}`),

  'nothing-fails-on-chain': ({ finalState: { failed } }) => failed.map(({ signature }) => signature),
};

/** Checks every invariant against the case. */
export const judge = (of: Case): Omit<Break, 'traffic'>[] =>
  Object.entries(invariants).flatMap(([invariant, check]) => check(of).map((what) => ({ invariant, what })));
