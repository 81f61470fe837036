import { ServiceError } from '../../shared/contract/errors.ts';

/** One screen waits no longer than this for a service. */
export const ANSWER_WITHIN_MS = 1_500;

/** What another version of a service does not know, and what is not there, is no answer. */
const NO_ANSWER: ReadonlySet<string> = new Set(['service_unavailable', 'not_found']);

/**
 * An answer, or null if a service does not answer: it is down, late, or of a version without the
 * operation.
 * @throws Error any other, which is a bug
 */
export const answerOrNull = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof ServiceError && NO_ANSWER.has(error.code)) return null;
    throw error;
  });
