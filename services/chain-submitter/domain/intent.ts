/**
 * How an intent moves. `signed` says that some bytes may land; which ones, and that they are the only ones, is the
 * transactions table's partial unique index (rule 9).
 */
export type Status = 'accepted' | 'signed' | 'confirmed' | 'finalized' | 'failed' | 'reopened';
export type Event = 'sign' | 'confirm' | 'finalize' | 'fork' | 'fail';

const TRANSITIONS: Record<Status, Partial<Record<Event, Status>>> = {
  // `confirm` without bytes of ours: the work was found done (adopted by its reference, or an account exists).
  accepted: { sign: 'signed', confirm: 'confirmed', fail: 'failed' },
  signed: { sign: 'signed', confirm: 'confirmed', fail: 'failed' },
  confirmed: { finalize: 'finalized', fork: 'reopened' },
  reopened: { sign: 'signed', confirm: 'confirmed', fail: 'failed' },
  finalized: {},
  failed: {},
};

/** Where an event leads, null when it does not belong to that state. */
export const next = (status: Status, event: Event): Status | null => TRANSITIONS[status][event] ?? null;

/** The state an event leads to, and those it may come from: the guard of the conditional update. */
export const step = (event: Event): { from: Status[]; to: Status } => {
  const from = (Object.keys(TRANSITIONS) as Status[]).filter((status) => next(status, event) !== null);
  return { from, to: next(from[0]!, event)! };
};

/** Nothing moves it any more. */
export const isTerminal = (status: Status): boolean => Object.keys(TRANSITIONS[status]).length === 0;

/** An intent's signing deadline: 60 s after its quote's expiry (rule 11). Epoch milliseconds. */
export const SIGNING_GRACE_MS = 60_000;
