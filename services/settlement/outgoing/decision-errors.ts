import { ServiceError } from '../../../shared/contract/errors.ts';
import { DECISION_ERRORS } from '../settlements/decision-errors.ts';
import {
  MAX_OPEN,
  MAX_OPEN_OF_PAYEE,
  type OutgoingDecision,
  type OutgoingEvaluation,
} from '../settlements/store/accept-outgoing.ts';

const forbidden = (message: string) => (): ServiceError => new ServiceError('forbidden', message);

/** An open payment is used within seconds, or expires within about two minutes. */
const OPEN_RETRY_SECONDS = 15;
const tooManyOpen = (message: string) => (): ServiceError =>
  new ServiceError('limit_exceeded', `${message}; repeat with the same payment_attempt_id`, {
    safe_action: 'retry_same_attempt',
    retryAfterSeconds: OPEN_RETRY_SECONDS,
  });

type Refused = Exclude<OutgoingDecision, 'accepted' | 'approval_required'>;

const ERRORS: Record<
  Exclude<Refused, 'payee_paused'>,
  (compared: OutgoingEvaluation['compared']) => ServiceError
> = {
  ...DECISION_ERRORS,
  external_off: forbidden(
    'this delegate may pay vendors of Quittance only; its owner can allow other vendors (external)',
  ),
  services_restricted: forbidden(
    'this delegate may pay the services of allowed_service_ids only, so it pays no other vendors',
  ),
  payee_not_allowed: forbidden(
    'this delegate may not pay this address; its owner can add it (external.pay_to)',
  ),
  origin_not_allowed: forbidden(
    'this delegate may not pay for this origin; its owner can add it (external.origins)',
  ),
  too_many_open: tooManyOpen(
    `${MAX_OPEN} payments of this delegate to other vendors are open, which is the limit`,
  ),
  too_many_open_of_payee: tooManyOpen(
    `${MAX_OPEN_OF_PAYEE} payments of this account to this address are open, which is the limit`,
  ),
};

const payeePaused = (seconds: number): ServiceError =>
  new ServiceError(
    'limit_exceeded',
    'this address has not used the last payments that it was given; repeat with the same payment_attempt_id later',
    { safe_action: 'retry_same_attempt', retryAfterSeconds: Math.ceil(seconds) },
  );

/** The error of an outgoing payment that was not accepted. */
export const outgoingError = (
  decision: Refused,
  { paused_seconds, compared }: Pick<OutgoingEvaluation, 'paused_seconds' | 'compared'>,
): ServiceError =>
  decision === 'payee_paused' ? payeePaused(paused_seconds ?? 0) : ERRORS[decision](compared);
