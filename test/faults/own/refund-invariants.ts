import { type Case, type Invariant, isPaid, movedExactly } from './case.ts';
import type { Refund } from './client-log.ts';
import type { FinalizedTransaction, RefundRow } from './final-state.ts';
import { preparedOf, refundIn } from './refunds.ts';

/** Transactions that a vendor signed, which are its refunds. Its payout address signs no others. */
const refundsOnChain = ({ clientLog, finalState }: Case): FinalizedTransaction[] => {
  const payouts = new Set(clientLog.attempts.map(({ vendor }) => vendor.payout.publicKey.toBase58()));
  return [...finalState.transactions.values()].filter(
    ({ succeeded, signers }) => succeeded && signers.some((signer) => payouts.has(signer)),
  );
};

/** Whether a transaction moved a refund's amount from its vendor to its payer, and nothing else. */
const isTransferOf = (of: Case, transaction: FinalizedTransaction, row: RefundRow): boolean => {
  const settlement = of.finalState.bySettlement.get(row.settlement_id);
  const payer = of.clientLog.attempts.find(
    (attempt) => attempt.payer.walletId === settlement?.wallet_id,
  )?.payer;
  const vendor = of.clientLog.attempts.find(
    (attempt) => attempt.vendor.serviceId === settlement?.service_id,
  )?.vendor;
  if (payer === undefined || vendor === undefined) return false;
  return movedExactly(of, transaction, [
    [vendor.payout.publicKey, -BigInt(row.amount)],
    [payer.wallet.publicKey, BigInt(row.amount)],
  ]);
};

const isCancelled = ({ cancelled }: Refund): boolean =>
  cancelled.some((answer) => answer.status === 200 && refundIn(answer).status === 'cancelled');
const isConfirmed = ({ submitted }: Refund): boolean =>
  submitted.some(
    (answer) => answer.status === 200 && ['confirmed', 'finalized'].includes(refundIn(answer).status ?? ''),
  );

/** The refunds that still hold a part of their settlement's net amount. */
const HOLDING: readonly string[] = ['pending_signature', 'submitted', 'confirmed', 'finalized'];

const sumBySettlement = (rows: readonly RefundRow[]): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const { settlement_id, amount } of rows)
    sums.set(settlement_id, (sums.get(settlement_id) ?? 0n) + BigInt(amount));
  return sums;
};

/** What must hold of refunds of our own payments. */
export const refundInvariants: Record<string, Invariant> = {
  /** On the chain, the refunds of a payment are at most its net amount, and its payment stands. */
  'refunded-at-most-the-net': (of) => {
    const onChain = new Set(refundsOnChain(of).map(({ signature }) => signature));
    const refunded = sumBySettlement(
      of.finalState.refunds.filter(({ tx_hash }) => onChain.has(tx_hash ?? '')),
    );
    return [...refunded].flatMap(([settlementId, amount]) => {
      const row = of.finalState.bySettlement.get(settlementId);
      const net = row === undefined ? 0n : BigInt(row.quote_amount) - BigInt(row.fee_amount);
      // A payment that a fork removed for good after its refund is a loss of its vendor.
      return amount <= net && (isPaid(row) || of.forks > 0)
        ? []
        : [{ what: `${settlementId} has refunds of ${amount}, its net is ${net}` }];
    });
  },

  /**
   * Each refund is on the chain at most once: every transaction that a vendor signed is the
   * recorded one of one refund and moves its amount, and the reverse.
   */
  'refund-is-paid-once': (of) => {
    const onChain = refundsOnChain(of);
    const signatures = new Set(onChain.map(({ signature }) => signature));
    return [
      ...onChain.flatMap((transaction) => {
        const { signature } = transaction;
        const rows = of.finalState.refunds.filter(({ tx_hash }) => tx_hash === signature);
        return rows.length === 1 && rows[0]!.status === 'finalized' && isTransferOf(of, transaction, rows[0]!)
          ? []
          : [{ what: `${signature} is of ${rows.map((row) => `${row.refund_id} ${row.status}`).join(' ')}` }];
      }),
      ...of.finalState.refunds
        .filter(({ status, tx_hash }) => status === 'finalized' && !signatures.has(tx_hash ?? ''))
        .map(({ refund_id, tx_hash }) => ({ what: `${refund_id}: ${tx_hash} is not on the chain` })),
    ];
  },

  /** A settlement reserves what its refunds hold: a refund that failed or was cancelled nothing. */
  'reserved-is-what-refunds-hold': (of) => {
    const held = sumBySettlement(of.finalState.refunds.filter(({ status }) => HOLDING.includes(status)));
    return of.finalState.settlements
      .filter((row) => BigInt(row.refund_reserved) !== (held.get(row.settlement_id) ?? 0n))
      .map((row) => ({
        what: `${row.settlement_id} reserves ${row.refund_reserved}, its refunds hold ${held.get(row.settlement_id) ?? 0n}`,
      }));
  },

  /** What a vendor was told about its refund is what became of it. */
  'refund-answers-are-true': (of) => {
    const onChain = new Set(refundsOnChain(of).map(({ signature }) => signature));
    const rows = new Map(of.finalState.refunds.map((row) => [row.refund_id, row]));
    return of.clientLog.refunds.flatMap((refund) => {
      const { attempt, created, key } = refund;
      const ids = new Set(created.flatMap((answer) => refundIn(answer).refund_id ?? []));
      if (ids.size > 1) return [{ what: `key ${key} began ${[...ids].join(' ')}`, attempt }];
      const row = rows.get(preparedOf(refund)?.refund_id ?? '');
      const isMade = onChain.has(row?.tx_hash ?? '');
      if (isMade && isCancelled(refund))
        return [{ what: `${row?.refund_id} was cancelled, and is on the chain`, attempt }];
      return isConfirmed(refund) && !isMade && of.forks === 0
        ? [{ what: `${row?.refund_id} was answered as confirmed, and is not on the chain`, attempt }]
        : [];
    });
  },
};

/** What vendors gave back, as a line of text. */
export const refundLine = (refunds: readonly Refund[]): string => {
  const count = (isCounted: (refund: Refund) => boolean) => refunds.filter(isCounted).length;
  const created = count((refund) => preparedOf(refund) !== null);
  const not = refunds.length - created;
  return `refunds: ${created} created, ${not} not, ${count(isCancelled)} cancelled, ${count(isConfirmed)} confirmed`;
};
