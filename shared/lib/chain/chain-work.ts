import type { Progress } from '../../contract/chain-submitter.ts';
import { stateMachine } from '../../state-machine.ts';

/**
 * The status of work on the chain, in the tables of the service that requested it. Every table that
 * follows chain-submitter's events has these states.
 */
type ChainWorkStatus = 'new' | 'signed' | 'confirmed' | 'finalized' | 'failed';
/**
 * The events of chain-submitter, and `submit`: the service's own submission of what the owner
 * signed.
 */
type ChainWorkEvent = Progress['status'] | 'submit';

/**
 * Events repeat and can arrive out of order, so each event applies to every state that it may
 * change: a late `signed` does not undo a `confirmed`, and nothing leaves `finalized` or `failed`.
 * A stale `reopened` that is delivered again is corrected by the `finalized` that follows.
 */
export const chainWork = stateMachine<ChainWorkStatus, ChainWorkEvent>({
  new: {
    submit: 'signed',
    signed: 'signed',
    confirmed: 'confirmed',
    finalized: 'finalized',
    failed: 'failed',
  },
  signed: { signed: 'signed', confirmed: 'confirmed', finalized: 'finalized', failed: 'failed' },
  confirmed: { finalized: 'finalized', failed: 'failed', reopened: 'signed' },
  finalized: {},
  failed: {},
});

/** Whether the waiting caller can be answered. */
export const isDecided = (status: string): boolean =>
  status === 'confirmed' || status === 'finalized' || status === 'failed';

/** The states in which a service dispatches the work again if no event arrives. */
export const UNDECIDED = chainWork.states.filter((status) => !isDecided(status));
