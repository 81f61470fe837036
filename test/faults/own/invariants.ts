import { PLATFORM_SERVICE_ID } from '../../../shared/contract/platform.ts';
import { untrueRefusals } from '../../support/rules/refusals.ts';
import type { Break } from '../break.ts';
import { notOnTheChain } from '../checks/final-records.ts';
import { approvalInvariants } from './approval-invariants.ts';
import { type Case, type Invariant, isPaid, movedExactly, paymentsOf, rowOf } from './case.ts';
import { type Answer, type Attempt, bodyOf, spanOf } from './client-log.ts';
import type { FinalizedTransaction } from './final-state.ts';
import { refundInvariants } from './refund-invariants.ts';
import { unitInvariants } from './unit-invariants.ts';

const confirmations = ({ answers }: Attempt): Answer[] =>
  answers.filter(
    (answer) => answer.status === 200 && !['pending', 'failed'].includes(bodyOf(answer).status!),
  );

/** Whether a payment moved the quoted amounts, and nothing else. */
const paysTheQuote = (
  of: Case,
  transaction: FinalizedTransaction,
  { payer, vendor, quote }: Attempt,
): boolean => {
  const [gross, fee] = [BigInt(quote.quote_amount), BigInt(quote.fee_amount)];
  return movedExactly(of, transaction, [
    [payer.wallet.publicKey, -gross],
    [vendor.payout.publicKey, gross - fee],
    [of.harness.stack.environments.test!.fee_wallet, fee],
  ]);
};

const invariants: Record<string, Invariant> = {
  /**
   * Every 200 has exactly one finalized successful transaction under its reference, which moves the
   * quoted amounts.
   */
  'answered-200-is-paid-once': (of) =>
    of.clientLog.attempts
      .filter((attempt) => confirmations(attempt).length > 0)
      .flatMap((attempt): ReturnType<Invariant> => {
        const row = rowOf(of, attempt);
        if (row === undefined) return [{ what: 'confirmed, and missing in the records', attempt }];
        const payments = paymentsOf(of, attempt.quote.quote_id);
        if (!isPaid(row)) {
          // Reversed for good: only a fork can do that, and then nothing may have moved.
          return of.forks > 0 && payments.length === 0
            ? []
            : [{ what: `confirmed, then failed, with ${payments.length} payments`, attempt }];
        }
        const [payment] = payments;
        if (payments.length !== 1 || payment === undefined)
          return [{ what: `${payments.length} transactions under the reference`, attempt }];
        if (payment.signature !== row.tx_hash)
          return [{ what: `paid by ${payment.signature}, recorded with ${row.tx_hash}`, attempt }];
        return paysTheQuote(of, payment, attempt)
          ? []
          : [{ what: `${payment.signature} moved other amounts than the quoted ones`, attempt }];
      }),

  /** No quote, and so no attempt, was paid twice, whatever the answers were. */
  'quote-paid-at-most-once': (of) =>
    [...of.finalState.under.keys()].flatMap((quoteId) => {
      const payments = paymentsOf(of, quoteId);
      return payments.length <= 1
        ? []
        : [{ what: `${quoteId}: ${payments.map(({ signature }) => signature).join(' ')}` }];
    }),

  /**
   * Transactions that the platform's keys signed and the chain has are recorded, and not as
   * expired.
   */
  'chain-is-in-the-records': ({ finalState }) =>
    [...finalState.transactions.values()].flatMap(({ signature, succeeded }) => {
      const record = finalState.records.get(signature);
      if (record === undefined) return [{ what: `${signature} is in no record` }];
      return succeeded && record.status !== 'live'
        ? [{ what: `${signature} of ${record.intent_id} transaction and is recorded ${record.status}` }]
        : [];
    }),

  /** Transactions that are recorded as final are final on the chain. */
  'records-are-on-the-chain': ({ finalState: { settlements, transactions } }) =>
    notOnTheChain(settlements, (signature) => transactions.get(signature)?.succeeded === true).map(
      (what) => ({ what }),
    ),

  /** Every balance is the funded amount, changed by the recorded payments. */
  'balances-equal-the-records': (of) => {
    const { clientLog, finalState, harness } = of;
    const expected = new Map<string, bigint>();
    const add = (owner: string, amount: bigint) => expected.set(owner, (expected.get(owner) ?? 0n) + amount);
    const payers = new Map(clientLog.attempts.map(({ payer }) => [payer.walletId, payer]));
    const vendors = new Map(clientLog.attempts.map(({ vendor }) => [vendor.serviceId, vendor]));
    add(harness.stack.environments.test!.fee_wallet, harness.feesBefore);
    for (const { owner, amount } of finalState.funded) add(owner, BigInt(amount));
    for (const row of finalState.settlements.filter(isPaid)) {
      const [gross, fee] = [BigInt(row.quote_amount), BigInt(row.fee_amount)];
      add(payers.get(row.wallet_id)!.wallet.publicKey.toBase58(), -gross);
      add(vendors.get(row.service_id)!.payout.publicKey.toBase58(), gross - fee);
      add(harness.stack.environments.test!.fee_wallet, fee);
    }
    for (const { settlement_id, amount } of finalState.refunds.filter(
      ({ status }) => status === 'finalized',
    )) {
      const row = finalState.bySettlement.get(settlement_id)!;
      add(payers.get(row.wallet_id)!.wallet.publicKey.toBase58(), BigInt(amount));
      add(vendors.get(row.service_id)!.payout.publicKey.toBase58(), -BigInt(amount));
    }
    const { fee_wallet } = harness.stack.environments.test!;
    for (const row of finalState.others.filter(isPaid))
      add(fee_wallet, BigInt(row.service_id === PLATFORM_SERVICE_ID ? row.quote_amount : row.fee_amount));
    return [...finalState.balances].flatMap(([owner, balance]) =>
      balance === (expected.get(owner) ?? 0n)
        ? []
        : [{ what: `${owner} has ${balance}, recorded are ${expected.get(owner) ?? 0n}` }],
    );
  },

  /**
   * A payer that cannot pay is refused before anything is signed. So no transaction of the platform
   * fails on chain, unless a fork gave the money to another payment or the owner removed it. What
   * clients of other protocols have signed, and captures of tabs, are theirs.
   */
  'nothing-fails-on-chain': ({ finalState, forks, fickle }) => {
    const own = new Set(
      finalState.settlements.map(
        ({ account_id, payment_attempt_id }) => `settle:${account_id}:${payment_attempt_id}`,
      ),
    );
    return [...finalState.transactions.values()]
      .filter(({ succeeded, signature }) => {
        const intent = finalState.records.get(signature)?.intent_id ?? '';
        const isOther = intent.startsWith('incoming:') || (intent.startsWith('settle:') && !own.has(intent));
        const isRemoved = intent.startsWith(`settle:${fickle.signIn.account.account_id}:`);
        return !succeeded && forks === 0 && !isOther && !isRemoved;
      })
      .map(({ signature }) => ({ what: `${signature} failed` }));
  },

  /** A failed attempt moved nothing and can move nothing: none of its bytes is live. */
  'failed-moved-nothing': (of) => {
    const live = new Set(
      [...of.finalState.records.values()]
        .filter(({ status }) => status === 'live')
        .map((row) => row.intent_id),
    );
    return of.finalState.settlements
      .filter((row) => !isPaid(row))
      .flatMap((row) => {
        const intent = `settle:${row.account_id}:${row.payment_attempt_id}`;
        const own = paymentsOf(of, row.quote_id).filter(
          ({ signature }) => of.finalState.records.get(signature)?.intent_id === intent,
        );
        if (own.length > 0) return [{ what: `${row.settlement_id} failed and paid ${own[0]!.signature}` }];
        return live.has(intent) ? [{ what: `${row.settlement_id} failed, its bytes may be included` }] : [];
      });
  },

  /**
   * A client whose answer was that nothing moved, or that the payment does not exist, has paid
   * nothing by that attempt. Whoever borrows the id of another quote may be refused before that
   * quote is paid.
   */
  'refused-is-unpaid': (of) =>
    of.clientLog.attempts
      .filter(({ outcome }) => outcome === 'refused' || outcome === 'failed' || outcome === 'unknown')
      .flatMap((attempt) => {
        const row = rowOf(of, attempt);
        if (attempt.isBorrowed && row?.quote_id !== attempt.quote.quote_id) return [];
        return isPaid(row) ? [{ what: `${attempt.outcome}, and ${row?.settlement_id} paid`, attempt }] : [];
      }),

  /**
   * No refusal denied, misnamed or gave up a payment that its account had made, was making or might
   * still make.
   */
  'refusals-are-true': ({ clientLog, finalState, forks }) => {
    const rows = finalState.settlements.map((row) => {
      const isFailed = row.chain_status === 'failed';
      return {
        settlementId: row.settlement_id,
        accountId: row.account_id,
        attemptId: row.payment_attempt_id,
        quoteId: row.quote_id,
        acceptedAt: row.accepted_at.getTime(),
        failedAt: isFailed ? row.progressed_at.getTime() : null,
        // Reversed for good: only a fork can do that.
        paid: row.issued_at !== null && (!isFailed || forks > 0),
      };
    });
    return untrueRefusals(clientLog.refusals, rows).map(({ refusal, what }) => ({
      what,
      attempt: refusal.attempt,
    }));
  },

  /** The same attempt always got the same settlement in its answers, and it is the recorded one. */
  'one-settlement-per-attempt': (of) =>
    of.clientLog.attempts.flatMap((attempt) => {
      const answered = attempt.answers.flatMap((answer) => bodyOf(answer).settlement_id ?? []);
      const ids = new Set([...answered, ...(answered.length > 0 ? [rowOf(of, attempt)?.settlement_id] : [])]);
      return ids.size <= 1 ? [] : [{ what: `answers named ${[...ids].join(' ')}`, attempt }];
    }),

  /** A confirmed transaction is replaced only by a fork. The settlement then names the old one. */
  'hash-changes-only-by-fork': (of) =>
    of.clientLog.attempts.flatMap((attempt) => {
      const answered = new Set(confirmations(attempt).flatMap((answer) => bodyOf(answer).tx_hash ?? []));
      const row = rowOf(of, attempt);
      const known = new Set([row?.tx_hash, ...(row?.superseded_tx_hashes ?? [])]);
      const strange = [...answered].filter((hash) => !known.has(hash));
      if (strange.length > 0) return [{ what: `answers named ${strange.join(' ')}, not recorded`, attempt }];
      return answered.size > 1 && of.forks === 0
        ? [{ what: `answers named ${[...answered].join(' ')}`, attempt }]
        : [];
    }),

  /** One redeemed_at, one redeem_id, and at most one answer that is not a replay. */
  'redeemed-at-most-once': ({ clientLog }) =>
    clientLog.attempts.flatMap((attempt) => {
      const done = attempt.redeems
        .filter(({ status }) => status === 200)
        .map(({ body }) => body as { redeemed_at: string; redeem_id: string; replayed: boolean });
      const kinds = new Set(done.map(({ redeemed_at, redeem_id }) => `${redeemed_at} ${redeem_id}`));
      const firsts = done.filter(({ replayed }) => !replayed).length;
      return kinds.size <= 1 && firsts <= 1
        ? []
        : [{ what: `${firsts} firsts: ${[...kinds].join(', ')}`, attempt }];
    }),

  'every-attempt-terminal': ({ clientLog }) =>
    clientLog.attempts
      .filter(({ outcome }) => outcome === 'open')
      .map((attempt) => ({ what: 'no client could learn its state', attempt })),
};

const shown = ({ id, quote, settlementId }: Attempt): string =>
  ` (attempt ${id}, quote ${quote.quote_id}, settlement ${settlementId ?? 'none'})`;

const all = { ...invariants, ...approvalInvariants, ...refundInvariants, ...unitInvariants };

/** Checks every invariant against the case. */
export const judge = (of: Case): Omit<Break, 'traffic'>[] =>
  Object.entries(all).flatMap(([invariant, check]) =>
    check(of).map(({ what, attempt }) =>
      attempt ? { invariant, what: `${what}${shown(attempt)}`, span: spanOf(attempt) } : { invariant, what },
    ),
  );
