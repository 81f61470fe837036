import type { Progress } from '../contract/chain-submitter.ts';
import { stateMachine } from '../state-machine.ts';

/**
 * How far a piece of chain work has come for the service that asked for it. One vocabulary for every table that
 * follows chain-submitter's events.
 */
export type WorkStatus = 'new' | 'signed' | 'confirmed' | 'finalized' | 'failed';
/** Events of chain-submitter, and our own submission of what the owner signed. */
export type WorkEvent = Progress['status'] | 'submit';

/**
 * Events repeat and may overtake one another, so each belongs to all states that it may change: a
 * late `signed` must not undo a `confirmed`, and nothing leaves `finalized` or `failed`. A stale
 * `reopened` that is delivered again is put right by the `finalized` that follows.
 */
export const work = stateMachine<WorkStatus, WorkEvent>({
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

/** True once the waiting caller can be answered. */
export const isDecided = (status: string): boolean =>
  status === 'confirmed' || status === 'finalized' || status === 'failed';

/** The states in which work is asked for again when nothing is heard of it. */
export const UNDECIDED = work.states.filter((status) => !isDecided(status));
