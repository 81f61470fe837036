import type { Records } from '../../../shared/boot.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import type { Message } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import { acceptHolding, type Holding, type HoldingDeps, recordAccepted } from '../core/accept.ts';
import type { AcceptedEvents } from '../core/accepted-events.ts';
import type { Payer } from '../payers/store.ts';
import { authorizedEvent, firstSettleJob } from '../record/events.ts';
import {
  type Attempt,
  acceptAttempts,
  acceptAuthorizations,
  type Candidate,
  type Decision,
  type NewAuthorization,
} from '../record/store/accept-attempts.ts';
import {
  acceptExtension,
  type Extended,
  type Extension,
  type ExtensionDecision,
} from '../record/store/accept-extension.ts';
import type { ComparedLimit } from '../record/store/limits.ts';
import type { ServiceTerms } from '../terms.ts';
import { QUITTANCE } from './quittance-rail.ts';

export type AcceptDeps = HoldingDeps & {
  /** The caps of what is authorized, which may never be paid. */
  authorizedCaps: HourlyCaps;
} & Pick<Records, 'pool' | 'relay'> &
  Pick<ServiceTerms, 'environment' | 'signingKey' | 'tabCaps'> & { accepted: AcceptedEvents };

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
    capture_amount: null,
    extension_tokens: null,
  };
  return firstSettleJob(job, { traceparent: activeTraceparent() });
};

/** What an attempt is accepted with whose quote has a ceiling. Null: it is paid at once. */
const authorizationOf = (deps: AcceptDeps, attempt: Attempt, at: number): NewAuthorization | null => {
  const { settlementId, claims } = attempt;
  if (claims.capture === undefined) return null;
  const endsAt = at + claims.capture.window_seconds * 1000;
  const { quote_id, service_id, quote_amount } = claims;
  const token = {
    env: deps.environment,
    settlement_id: settlementId,
    quote_id,
    service_id,
    quote_amount,
    issued_at: isoTime(at),
    redeem_expires_at: isoTime(endsAt),
  };
  const settlementToken = signToken('settlement', token, deps.signingKey);
  return { terms: claims.capture, at, endsAt, settlementToken, caps: deps.tabCaps };
};

/** An attempt as the statement evaluates it, with what is published if it is accepted. */
const candidateOf = (
  deps: AcceptDeps,
  attempt: Attempt,
  { payer, isOverCap, at }: { payer: Payer; isOverCap: boolean; at: number },
) => {
  const authorization = authorizationOf(deps, attempt, at);
  const message =
    authorization === null
      ? jobOf(attempt, payer, at)
      : authorizedEvent(QUITTANCE.termsOf(attempt, at), authorization.endsAt, {
          traceparent: activeTraceparent(),
        });
  return { attempt, messages: [message], isOverCap, authorization };
};

/** The decision about an attempt, and the limit that refused it. */
type Accepted = {
  decision: Decision | ExtensionDecision;
  compared: ComparedLimit | null;
  open_micro?: bigint | null;
  cap_micro?: bigint | null;
  /** Of an accepted attempt whose quote has a ceiling. */
  authorization?: NewAuthorization | null;
  /** Of an accepted extension: the authorization that it extended. */
  extended?: Extended | null;
};
export type Accept = (attempt: Attempt, options: { payer: Payer; abandonedAt: number }) => Promise<Accepted>;

/** An attempt whose quote adds to the ceiling of an authorization. Null: it has one of its own. */
const extensionOf = (
  { tabCaps: caps }: Pick<AcceptDeps, 'tabCaps'>,
  attempt: Attempt,
): Omit<Extension, 'isOverCap'> | null => {
  const { extends: extended, capture: terms } = attempt.claims;
  if (extended === undefined) return null;
  if (terms === undefined) throw new TypeError('The quote of an extension has capture terms.');
  return { attempt: { ...attempt, settlementId: newId('ext') }, extended, terms, caps };
};

/** The caps that count an attempt. */
const withCapsOf = (deps: AcceptDeps, { claims }: Attempt): AcceptDeps =>
  claims.capture === undefined ? deps : { ...deps, caps: deps.authorizedCaps };

/** Accepts an extension, by a statement of its own: it locks the authorization. */
const acceptExtending = async (
  deps: AcceptDeps,
  extension: Omit<Extension, 'isOverCap'>,
  holding: Holding,
): Promise<Accepted> => {
  const evaluation = await acceptHolding(withCapsOf(deps, extension.attempt), holding, ({ isOverCap }) =>
    acceptExtension(deps.pool, { ...extension, isOverCap }, activeTraceparent()),
  );
  if (evaluation === null) return { decision: 'conflict', compared: null };
  if (evaluation.decision === 'accepted') {
    await recordAccepted(deps, QUITTANCE, extension.attempt);
    deps.relay.dispatch(evaluation.outbox);
  }
  return evaluation;
};

/** Two candidates with one key are no candidates of one statement. */
const keysOf = ({ attempt: { accountId, paymentAttemptId, claims } }: Candidate) => [
  `${accountId}/${paymentAttemptId}`,
  claims.quote_id,
];

/**
 * Accepts attempts to pay a quote. Those of the same moment share a statement. Authorizations have
 * one of their own, so that a payment never waits for the lock of a vendor.
 */
export const createAccept = (deps: AcceptDeps): Accept => {
  const pay = batched((candidates: readonly Candidate[]) => acceptAttempts(deps.pool, candidates), {
    keysOf,
  });
  const authorize = batched(
    (candidates: readonly Candidate[]) => acceptAuthorizations(deps.pool, candidates),
    { keysOf },
  );
  return async (attempt, options) => {
    const holding = { ...options, amountMicro: parseMicro(attempt.claims.quote_amount) };
    const extended = extensionOf(deps, attempt);
    if (extended !== null) return acceptExtending(deps, extended, holding);
    const evaluation = await acceptHolding(withCapsOf(deps, attempt), holding, async (evaluated) => {
      const candidate = candidateOf(deps, attempt, evaluated);
      const evaluate = candidate.authorization === null ? pay : authorize;
      return { ...(await evaluate(candidate)), authorization: candidate.authorization };
    });
    if (evaluation === null) return { decision: 'conflict', compared: null };
    if (evaluation.decision === 'accepted') {
      const terms = await recordAccepted(deps, QUITTANCE, attempt);
      // Its own event says that a ceiling is held.
      if (evaluation.authorization === null) deps.accepted.hold(terms);
      deps.relay.dispatch(evaluation.outbox);
    }
    return evaluation;
  };
};
