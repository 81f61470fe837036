import { stateMachine } from '../../../../shared/state-machine.ts';

/**
 * The states of an intent. `signed`: bytes of it may be included. The partial unique index of the
 * transactions table allows no other live bytes (rule 9).
 */
export type Status = 'accepted' | 'signed' | 'confirmed' | 'finalized' | 'failed' | 'reopened';
export type Event = 'sign' | 'confirm' | 'finalize' | 'fork' | 'fail';

export const intents = stateMachine<Status, Event>({
  // `confirm` without bytes of this service: the token account exists already.
  accepted: { sign: 'signed', confirm: 'confirmed', fail: 'failed' },
  signed: { sign: 'signed', confirm: 'confirmed', fail: 'failed' },
  confirmed: { finalize: 'finalized', fork: 'reopened' },
  reopened: { sign: 'signed', confirm: 'confirmed', fail: 'failed' },
  finalized: {},
  failed: {},
});

/** An intent's signing deadline: 60 s after its quote's expiry (rule 11). Epoch milliseconds. */
export const SIGNING_GRACE_MS = 60_000;
