import type { Records } from '../../../shared/boot.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Message } from '../../../shared/events/event.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import type { Payer } from '../payers/store.ts';
import { acceptHolding, type HoldingDeps, recordAccepted } from './accept.ts';
import type { AcceptedEvents } from './accepted-events.ts';
import { firstSettleJob } from './events.ts';
import { QUITTANCE } from './quittance-rail.ts';
import { type Attempt, acceptAttempts, type Candidate, type Decision } from './store/accept-attempts.ts';
import type { ComparedLimit } from './store/limits.ts';

export type AcceptDeps = HoldingDeps & Pick<Records, 'pool' | 'relay'> & { accepted: AcceptedEvents };

const jobOf = (attempt: Attempt, payer: Payer, now: number): Message => {
  const { claims } = attempt;
  // chain-submitter queries every provider for an old payment. One whose record was lost is old.
  const createdAt = attempt.isPaid === true ? Date.parse(claims.issued_at) : now;
  const job = {
    settlement_id: attempt.settlementId,
    account_id: attempt.accountId,
    payment_attempt_id: attempt.paymentAttemptId,
    quote_token: attempt.quoteToken,
    wallet_id: payer.wallet_id,
    owner: payer.owner,
    authority: payer.authority,
    dispatch_count: 1,
    generation: 0,
    created_at: createdAt,
  };
  return firstSettleJob(job, { traceparent: activeTraceparent() });
};

/** The decision about an attempt, and the limit that refused it. */
type Accepted = { decision: Decision; compared: ComparedLimit | null };
export type Accept = (attempt: Attempt, options: { payer: Payer; abandonedAt: number }) => Promise<Accepted>;

/** Accepts attempts to pay a quote. Those of the same moment share a statement. */
export const createAccept = (deps: AcceptDeps): Accept => {
  const evaluate = batched((candidates: readonly Candidate[]) => acceptAttempts(deps.pool, candidates));
  return async (attempt, options) => {
    const amountMicro = parseMicro(attempt.claims.quote_amount);
    const evaluation = await acceptHolding(deps, { ...options, amountMicro }, ({ payer, isOverCap, at }) =>
      evaluate({ attempt, messages: [jobOf(attempt, payer, at)], isOverCap }),
    );
    if (evaluation === null) return { decision: 'conflict', compared: null };
    if (evaluation.decision === 'accepted') {
      deps.accepted.hold(await recordAccepted(deps, QUITTANCE, attempt));
      deps.relay.dispatch(evaluation.outbox);
    }
    return evaluation;
  };
};
