import { isDeepStrictEqual } from 'node:util';
import { type Case, type Invariant, rowOf } from './case.ts';
import { type Answer, bodyOf, type Decision } from './client-log.ts';
import { APPROVAL_ABOVE } from './owners.ts';

/** An approval that its owner gave, or that it may have given because its answer was lost. */
const mayApprove = ({ wants, status }: Decision): boolean =>
  wants === 'approve' && (status === null || status === 200 || status >= 500);

const isDenied = ({ wants, status }: Decision): boolean => wants === 'deny' && status === 200;

const says = (answer: Pick<Answer, 'body'>): string | undefined => bodyOf(answer).error?.code;

const AFTER_A_DENIAL: ReadonlySet<string | undefined> = new Set(['approval_denied', 'quote_already_settled']);

/** The payments of agents that need an approval, as they were recorded. */
const approvedRows = ({ clientLog, finalState, owners }: Case) => {
  const accounts = new Set(owners.map(({ payer }) => payer.signIn.account.account_id));
  const vendors = new Map(clientLog.attempts.map(({ quote, vendor }) => [quote.quote_id, vendor]));
  return finalState.settlements
    .filter(
      ({ account_id, delegate_id, quote_amount }) =>
        accounts.has(account_id) && delegate_id !== null && BigInt(quote_amount) > APPROVAL_ABOVE,
    )
    .map((row) => ({ row, payTo: vendors.get(row.quote_id)?.payout.publicKey.toBase58() }));
};

/** What must hold of payments that need the approval of their owner. */
export const approvalInvariants: Record<string, Invariant> = {
  /**
   * Before the acceptance of each payment its owner sent an approval of exactly it: the owner had
   * read its delegate, attempt, quote, amount and payee.
   */
  'payment-has-its-approval': (of) =>
    approvedRows(of)
      .filter(
        ({ row, payTo }) =>
          !of.clientLog.decisions.some(
            (decision) =>
              mayApprove(decision) &&
              decision.askedAt <= row.accepted_at.getTime() &&
              decision.shown.delegate_id === row.delegate_id &&
              decision.shown.payment_attempt_id === row.payment_attempt_id &&
              decision.shown.quote_id === row.quote_id &&
              decision.shown.amount === row.quote_amount &&
              isDeepStrictEqual(decision.shown.payees, [{ address: payTo, amount: row.quote_amount }]),
          ),
      )
      .map(({ row }) => ({
        what: `${row.settlement_id} of ${row.quote_amount} for ${row.quote_id}, attempt ${row.payment_attempt_id}`,
      })),

  /** A payment that its owner denied was not made, also if it was approved before. */
  'denied-is-unpaid': (of) =>
    of.clientLog.decisions.filter(isDenied).flatMap(({ attempt, shown }) => {
      const row = rowOf(of, attempt);
      return row === undefined
        ? []
        : [{ what: `${shown.approval_id} was denied, and ${row.settlement_id} exists`, attempt }];
    }),

  /** A denial is refused only to the owner whose agent has paid. */
  'refused-denial-is-paid': (of) =>
    of.clientLog.decisions
      .filter(({ wants, status }) => wants === 'deny' && status === 409)
      .flatMap(({ attempt, shown, body }) => {
        const named = bodyOf({ body }).error?.settlement_id;
        return named !== undefined && named === rowOf(of, attempt)?.settlement_id
          ? []
          : [
              {
                what: `${shown.approval_id} could not be denied, named ${named ?? 'nothing'}: ${JSON.stringify(body)}`,
                attempt,
              },
            ];
      }),

  /**
   * An agent is told of a denial that its owner has sent, and of nothing else after it, unless
   * another attempt has paid the quote.
   */
  'denial-is-final': (of) =>
    of.clientLog.attempts.flatMap((attempt) => {
      const denials = of.clientLog.decisions.filter(
        (decision) => decision.attempt === attempt && decision.wants === 'deny',
      );
      const deniedAt = Math.min(...denials.filter(isDenied).map(({ at }) => at));
      return attempt.answers.flatMap((answer) => {
        const code = says(answer);
        const isFinal = answer.status !== null && answer.status < 500;
        if (isFinal && answer.askedAt > deniedAt && !AFTER_A_DENIAL.has(code))
          return [{ what: `denied, then answered ${code ?? answer.status}`, attempt }];
        const isSent = denials.some(({ askedAt }) => askedAt <= answer.at);
        return code === 'approval_denied' && !isSent
          ? [{ what: 'answered approval_denied without a denial', attempt }]
          : [];
      });
    }),
};

/** What owners decided, as a line of text. */
export const approvalLine = (decisions: readonly Decision[]): string => {
  const count = (isCounted: (decision: Decision) => boolean) => decisions.filter(isCounted).length;
  const approved = count(({ wants, status }) => wants === 'approve' && status === 200);
  const late = count(({ wants, status }) => wants === 'deny' && status === 409);
  return `owners: ${approved} approved, ${count(isDenied)} denied, ${late} denied after the payment`;
};
