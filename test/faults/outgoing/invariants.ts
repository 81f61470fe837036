import { untrueRefusals } from '../../support/rules/refusals.ts';
import type { Break } from '../break.ts';
import { notOnTheChain } from '../checks/final-records.ts';
import type { Disturbances } from '../traffic.ts';
import { BALANCE, PRICE } from './actors.ts';
import type { FinalState } from './final-state.ts';
import { type Attempt, hashIn, type Log, signatureOf, signedIn } from './log.ts';

/** The final state of a campaign, which the invariants check. */
export type Case = Disturbances & { log: Log; finalState: FinalState };

type Row = FinalState['settlements'][number];
const UNAVAILABLE = 'service_unavailable';

const rowOf = ({ finalState }: Case, { payer, id }: Attempt): Row | undefined =>
  finalState.byAttempt.get(`${payer.accountId} ${id}`);

/** The transfers of all bytes that the buyer was given. */
export const transfersOf = ({ finalState }: Case, attempt: Attempt) => {
  const own = new Set(signedIn(attempt).map(({ signature }) => hashIn(signature!)));
  return finalState.transfers.filter(({ hash }) => hash !== null && own.has(hash));
};

const shown = ({ number, id, behaviour, answers, deliveries }: Attempt): string =>
  `attempt ${number} (${id}, ${behaviour}), answers ${answers
    .map(({ kind, detail }) => `${kind} (${detail})`)
    .join(', ')}; vendors ${deliveries
    .map(({ behaviour, status, reason }) => `${behaviour} ${status} ${reason}`)
    .join(', ')}`;

/** Settlements whose payment a fork removed for good. */
export const isReversed = ({ status, chain_status }: Row): boolean =>
  status !== 'failed' && chain_status === 'failed';

const isFailed = ({ status, chain_status }: Row): boolean => status === 'failed' || chain_status === 'failed';

const invariants: Record<string, (of: Case) => string[]> = {
  /** Every answer to an attempt has the same bytes and the same settlement. */
  'repeats-are-identical': ({ log }) =>
    log.attempts
      .filter((attempt) => {
        const signed = signedIn(attempt);
        const ids = attempt.answers.flatMap(({ settlementId }) => settlementId ?? []);
        return new Set(signed.map(({ signature }) => signature)).size > 1 || new Set(ids).size > 1;
      })
      .map(shown),

  'attempt-is-paid-once': (of) =>
    of.log.attempts.filter((attempt) => transfersOf(of, attempt).length > 1).map(shown),

  /** No settlement failed whose transfer is on the chain. */
  'failed-is-unpaid': (of) =>
    of.log.attempts
      .filter((attempt) => {
        const row = rowOf(of, attempt);
        const isDenied = attempt.answers.some(({ kind }) => kind === 'failed') && of.forks === 0;
        return (isDenied || (row && isFailed(row))) && transfersOf(of, attempt).length > 0;
      })
      .map(shown),

  /** Every transfer from a wallet is that of a signed payment, moved its price, and is recorded. */
  'chain-is-in-the-records': (of) => {
    const attempts = new Map(
      of.log.attempts.flatMap((attempt) => {
        const signature = signatureOf(attempt);
        return signature === null ? [] : [[hashIn(signature), attempt] as const];
      }),
    );
    return of.finalState.transfers.flatMap(({ signature, hash, amount }) => {
      const attempt = attempts.get(hash ?? '');
      if (attempt === undefined) return [`${signature} moved ${amount}, and no buyer has its bytes`];
      const row = rowOf(of, attempt);
      const isRecorded =
        amount === -PRICE &&
        of.finalState.recorded.has(signature) &&
        row?.tx_hash === signature &&
        row.status === 'issued' &&
        row.chain_status === 'finalized';
      return isRecorded
        ? []
        : [
            `${signature} moved ${amount}, ${row?.settlement_id} is ${row?.status}, ${row?.chain_status}: ${shown(attempt)}`,
          ];
    });
  },

  'records-are-on-the-chain': ({ finalState: { settlements, transfers } }) => {
    const signatures = new Set(transfers.map(({ signature }) => signature));
    return notOnTheChain(settlements, (signature) => signatures.has(signature));
  },

  /** What a delegate has spent is what left the chain with its bytes. */
  'spent-equals-the-chain': (of) =>
    of.finalState.delegates.flatMap(({ id, spent }) => {
      const own = of.log.attempts.filter(({ payer }) => payer.delegateId === id);
      const paid = PRICE * BigInt(own.reduce((sum, attempt) => sum + transfersOf(of, attempt).length, 0));
      return BigInt(spent) === paid ? [] : [`${id} spent ${spent}, on the chain are ${paid}`];
    }),

  /** A wallet has lost, and a payee has got, the price of each included payment. */
  'balances-equal-the-payments': ({ log, finalState: { wallets, payees, transfers } }) => {
    const payTo = new Map(
      log.attempts.flatMap((attempt) => {
        const signature = signatureOf(attempt);
        return signature === null ? [] : [[hashIn(signature), attempt.payTo] as const];
      }),
    );
    const sumOf = (isOwn: (transfer: FinalState['transfers'][number]) => boolean) =>
      PRICE * BigInt(transfers.filter(isOwn).length);
    return [
      ...wallets.map(({ owner, amount }) => ({
        ...{ owner, amount },
        expected: BALANCE - sumOf((transfer) => transfer.owner === owner),
      })),
      ...payees.map(({ owner, amount }) => ({
        ...{ owner, amount },
        expected: sumOf(({ hash }) => payTo.get(hash ?? '') === owner),
      })),
    ]
      .filter(({ amount, expected }) => amount !== expected)
      .map(({ owner, amount, expected }) => `${owner} has ${amount}, not ${expected}`);
  },

  /** What an answer called confirmed is on the chain, unless a fork removed it for good. */
  'confirmed-is-paid': (of) =>
    of.log.attempts
      .filter((attempt) => signedIn(attempt).some(({ detail }) => detail === 'confirmed'))
      .filter((attempt) => {
        const row = rowOf(of, attempt);
        const isDropped = of.forks > 0 && row !== undefined && isFailed(row);
        return transfersOf(of, attempt).length !== (isDropped ? 0 : 1);
      })
      .map(shown),

  /**
   * No refusal denies a payment that existed (docs/faults.md, Refusals). Without an answer of
   * chain-submitter, a payment exists for its buyer when a call has returned its bytes.
   */
  'refusals-are-true': ({ log, finalState: { settlements } }) => {
    const signedAt = new Map(log.attempts.map((attempt) => [attempt.id, signedIn(attempt)[0]?.at]));
    const ledger = settlements.map((row) => ({
      settlementId: row.settlement_id,
      accountId: row.account_id,
      attemptId: row.payment_attempt_id,
      quoteId: row.payment_attempt_id,
      acceptedAt: row.accepted_at.getTime(),
      failedAt: row.chain_status === 'failed' ? row.progressed_at.getTime() : null,
      paid: row.status === 'issued',
    }));
    const handedOut = ledger.map((row) => ({
      ...row,
      acceptedAt: signedAt.get(row.attemptId) ?? Number.POSITIVE_INFINITY,
    }));
    const isUnsigned = ({ code }: { code: string }) => code === UNAVAILABLE;
    return [
      ...untrueRefusals(
        log.refusals.filter((refusal) => !isUnsigned(refusal)),
        ledger,
      ),
      ...untrueRefusals(log.refusals.filter(isUnsigned), handedOut),
    ].map(({ refusal, what }) => `${refusal.attemptId}: ${what}`);
  },

  'nothing-fails-on-chain': ({ finalState: { failed } }) => failed.map(({ signature }) => signature),
};

/** Checks every invariant against the case. */
export const judge = (of: Case): Omit<Break, 'traffic'>[] =>
  Object.entries(invariants).flatMap(([invariant, check]) => check(of).map((what) => ({ invariant, what })));
