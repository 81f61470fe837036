import type { Refusal } from '../base/answers.ts';

/**
 * The body of a 402 as MPP has it: Problem Details (RFC 9457), with the types of the draft. Their
 * fields are beside those of the other dialects.
 */

const TYPES = 'https://paymentauth.org/problems/';
export const PROBLEM_JSON = 'application/problem+json';

type Problem = { code: string; title: string; detail: string };

const REQUIRED: Problem = {
  code: 'payment-required',
  title: 'Payment Required',
  detail: 'Pay by a challenge of WWW-Authenticate and repeat the request with the credential.',
};
const FAILED: Problem = {
  code: 'verification-failed',
  title: 'Verification Failed',
  detail: 'The payment was not accepted.',
};
const INVALID_CHALLENGE: Problem = {
  code: 'invalid-challenge',
  title: 'Invalid Challenge',
  detail: 'The credential answers no open challenge for this request.',
};
/** By the reason of a refusal. Any other one is of the payment itself. */
const PROBLEMS: ReadonlyMap<string, Problem> = new Map([
  [
    'malformed_credential',
    {
      code: 'malformed-credential',
      title: 'Malformed Credential',
      detail: 'The credential must be base64url of JSON with challenge and payload.',
    },
  ],
  [
    'invalid_payload',
    {
      code: 'invalid-payload',
      title: 'Invalid Payload',
      detail: 'The payload must have the type transaction, and a signed transaction in base64.',
    },
  ],
  ['invalid_offer', INVALID_CHALLENGE],
  ['other_resource', INVALID_CHALLENGE],
  ['other_body', INVALID_CHALLENGE],
  ['other_field', INVALID_CHALLENGE],
  ['spent', INVALID_CHALLENGE],
  [
    'offer_expired',
    { code: 'payment-expired', title: 'Payment Expired', detail: 'The challenge has expired.' },
  ],
  [
    'amount_too_small',
    {
      code: 'payment-insufficient',
      title: 'Payment Insufficient',
      detail: 'The payment is below the present price.',
    },
  ],
]);

/** The fields of the body of a 402 with this challenge, which may follow a refused payment. */
export const problemOf = (challengeId: string, refused: Refusal | null) => {
  const { code, title, detail } = refused === null ? REQUIRED : (PROBLEMS.get(refused.reason) ?? FAILED);
  return { type: `${TYPES}${code}`, title, status: 402, detail, challengeId };
};
