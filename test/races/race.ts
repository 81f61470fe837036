import { tally } from '../support/stack.ts';
import type { Fixture } from './fixture.ts';

/** Concurrent calls against one object. Returns what does not hold, which must be nothing. */
export type Race = (fixture: Fixture) => Promise<string[]>;

/** An answer of the public API: its status, and the code of its error. */
type Answer = { status: number; body: { error?: { code: string } } };

/** The error's code, or the status of an answer without an error. */
export const outcome = ({ status, body }: Answer): string | number => body.error?.code ?? status;

/** How often each outcome was answered, as JSON. */
export const outcomes = (answers: readonly Answer[]): string => JSON.stringify(tally(answers.map(outcome)));

export const unless = (holds: boolean, what: string): string[] => (holds ? [] : [what]);
