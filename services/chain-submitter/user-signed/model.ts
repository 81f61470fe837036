import { stateMachine } from '../../../shared/state-machine.ts';

/** A transaction that waits for its owner's signature. */
export type PreparationStatus = 'open' | 'replaced' | 'submitted' | 'cancelled';
/** `prepare`: anew under the same id; `replace`: by another of the same wallet. */
export type PreparationEvent = 'prepare' | 'replace' | 'submit' | 'cancel';

/**
 * What was submitted or cancelled never changes: one submission of each is all there can ever be.
 */
export const preparations = stateMachine<PreparationStatus, PreparationEvent>({
  open: { prepare: 'open', replace: 'replaced', submit: 'submitted', cancel: 'cancelled' },
  replaced: { prepare: 'open', cancel: 'cancelled' },
  submitted: {},
  cancelled: { cancel: 'cancelled' },
});
