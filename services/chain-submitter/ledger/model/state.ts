import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';
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

/** Nothing is signed later than this after the expiry of its quote (rule 11). */
const SIGNING_GRACE_MS = 60_000;
/** The capture of an authorization may wait so long for the chain after its window has ended. */
const CAPTURE_GRACE_MS = 24 * 3_600_000;

/**
 * An intent's signing deadline: 60 s after its quote's expiry (rule 11), or of a quote with a
 * ceiling a day after the last window that it can have. Epoch milliseconds.
 */
export const signingDeadline = ({
  expires_at,
  capture,
}: Pick<QuoteClaims, 'expires_at' | 'capture'>): number =>
  Date.parse(expires_at) +
  SIGNING_GRACE_MS +
  (capture === undefined ? 0 : capture.window_seconds * 1000 + CAPTURE_GRACE_MS);
