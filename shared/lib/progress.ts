import type { Progress } from '../contract/chain-submitter.ts';

/**
 * How far a piece of chain work has come for the service that asked for it. One vocabulary for every table that
 * follows chain-submitter's facts.
 */
export type WorkStatus = 'new' | 'signed' | 'confirmed' | 'finalized' | 'failed';

type Step = { to: WorkStatus; from: readonly WorkStatus[] };

/**
 * The transition table. Facts repeat and may overtake one another, so each names the states that it may change:
 * a late `signed` must not undo a `confirmed`, and nothing leaves `finalized` or `failed`. A stale `reopened`
 * that is delivered again is put right by the `finalized` that follows.
 */
const STEPS: Record<Progress['status'], Step> = {
  signed: { to: 'signed', from: ['new', 'signed'] },
  confirmed: { to: 'confirmed', from: ['new', 'signed'] },
  finalized: { to: 'finalized', from: ['new', 'signed', 'confirmed'] },
  failed: { to: 'failed', from: ['new', 'signed', 'confirmed'] },
  reopened: { to: 'signed', from: ['confirmed'] },
};

/** What a fact makes of a row, and of rows in which state: for the WHERE of a conditional update. */
export const progressStep = (fact: Progress['status']): Step => STEPS[fact];

/** True once the waiting caller can be answered. */
export const isDecided = (status: string): boolean =>
  status === 'confirmed' || status === 'finalized' || status === 'failed';
