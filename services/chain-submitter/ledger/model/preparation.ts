import { stateMachine } from '../../../../shared/state-machine.ts';

/** The states of a transaction that is prepared for its owner to sign. */
type PreparationStatus = 'open' | 'replaced' | 'submitted' | 'cancelled';
/**
 * `prepare`: prepared again under the same id; `replace`: replaced by another preparation of the
 * same wallet.
 */
type PreparationEvent = 'prepare' | 'replace' | 'submit' | 'cancel';

/** A submitted or cancelled preparation never changes, so each has at most one submission. */
export const preparations = stateMachine<PreparationStatus, PreparationEvent>({
  open: { prepare: 'open', replace: 'replaced', submit: 'submitted', cancel: 'cancelled' },
  replaced: { prepare: 'open', cancel: 'cancelled' },
  submitted: {},
  cancelled: { cancel: 'cancelled' },
});
