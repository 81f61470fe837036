import Negotiator from 'negotiator';
import {
  ERRORS,
  type ErrorBody,
  type ErrorReference,
  PROBLEM_TYPE,
} from '../../../shared/contract/errors.ts';

/**
 * Whether the caller asks for errors in the form of RFC 9457 and does not prefer JSON. A caller who
 * accepts anything gets the form of every other answer.
 * @param accept the header, as it came
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1 for the weights
 */
export const wantsProblem = (accept = ''): boolean => {
  // The library compares parameters too. Ours have none, and clients add this one.
  const asked = accept.toLowerCase().replaceAll(/;\s*charset=[^,;]*/g, '');
  return (
    asked.includes(PROBLEM_TYPE) &&
    new Negotiator({ headers: { accept: asked } }).mediaType(['application/json', PROBLEM_TYPE]) ===
      PROBLEM_TYPE
  );
};

/** An error as a problem (RFC 9457), with ours under `error`. */
export const problemOf = (status: number, { error }: { error: ErrorBody & ErrorReference }) => ({
  type: error.docs_url,
  title: ERRORS[error.code].meaning,
  status,
  detail: error.message,
  error,
});
