import { batched } from '../../../shared/db/batched.ts';
import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Message } from '../../../shared/events/event.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import type { Compared } from '../declines/model.ts';
import type { refreshPayer } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';
import { evaluateWithPayer } from './evaluate-with-payer.ts';
import { acceptedEvent, settleJob } from './events.ts';
import { acceptWithinCaps } from './hourly-caps.ts';
import { type Attempt, acceptAttempts, type Candidate, type Decision } from './store/accept-attempts.ts';
import type { TermsCache } from './terms-cache.ts';

type Deps = Parameters<typeof refreshPayer>[0] & {
  pool: Pool;
  clock: Clock;
  caps: HourlyCaps;
  relay: Relay;
  terms: TermsCache;
};

const messagesOf = (attempt: Attempt, payer: Payer, now: number): Message[] => {
  const traceparent = activeTraceparent();
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
  return [settleJob(job, { traceparent }), acceptedEvent(attempt, { traceparent })];
};

/** The decision about an attempt, and the limit that refused it. */
type Accepted = { decision: Decision; compared: Compared | null };
export type Accept = (attempt: Attempt, options: { payer: Payer; abandonedAt: number }) => Promise<Accepted>;

/**
 * Accepts attempts. Those of the same moment share a statement. An attempt that the last snapshot
 * of its payer cannot pay is evaluated a second time, on a new snapshot from the chain.
 */
export const createAccept = (deps: Deps): Accept => {
  const evaluate = batched((candidates: readonly Candidate[]) => acceptAttempts(deps.pool, candidates));
  return async (attempt, options) => {
    const evaluation = await evaluateWithPayer(deps, options, (payer) => {
      const candidate = { attempt, messages: messagesOf(attempt, payer, deps.clock()) };
      return acceptWithinCaps(
        deps.caps,
        {
          payer: { wallet: payer.owner, accountId: attempt.accountId },
          amountMicro: parseMicro(attempt.claims.quote_amount),
        },
        (isOverCap) => evaluate({ ...candidate, isOverCap }),
      );
    });
    if (evaluation === null) return { decision: 'conflict', compared: null };
    if (evaluation.decision === 'accepted') {
      await failpoint('settlement.afterAccept');
      count('quittance_settlements_total', 1, { outcome: 'accepted' });
      deps.terms.add(attempt, deps.clock());
      deps.relay.dispatch(evaluation.outbox);
    }
    return evaluation;
  };
};
