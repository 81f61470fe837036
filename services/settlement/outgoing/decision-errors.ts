import type { ServiceError } from '../../../shared/contract/errors.ts';
import { contended } from '../core/decision-errors.ts';
import type { OutgoingDecision, OutgoingEvaluation } from '../record/store/outgoing/accept-outgoing.ts';
import { OUTGOING_REFUSALS } from '../record/store/outgoing/outgoing-refusals.ts';

/** The error of an outgoing payment that was not accepted. */
export const outgoingError = (
  decision: Exclude<OutgoingDecision, 'accepted'>,
  evaluation: OutgoingEvaluation,
): ServiceError =>
  decision === 'existing' || decision === 'conflict'
    ? contended()
    : OUTGOING_REFUSALS[decision].error(evaluation);
