import { expect, test } from '@jest/globals';
import { problemOf, wantsProblem } from './problem.ts';

test.each([
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/*', false],
  ['application/json', false],
  ['application/problem+json', true],
  ['Application/Problem+JSON', true],
  ['application/problem+json;charset=utf-8', true],
  ['application/problem+json, */*', true],
  ['application/problem+json, application/json', true],
  // The order of equal wishes counts, and a weight before it.
  ['application/json, application/problem+json', false],
  ['application/json;q=0.5, application/problem+json', true],
  ['application/json, application/problem+json;q=0.9', false],
  ['application/problem+json;q=0', false],
  ['application/problem+jsonx', false],
  [', ;q=application/problem+json', false],
])('%p asks for a problem: %p', (accept, expected) => {
  expect(wantsProblem(accept)).toBe(expected);
});

test('a problem says in the members of RFC 9457 what the error says', () => {
  const error = {
    code: 'not_found',
    message: 'no such quote',
    request_id: 'r-1',
    docs_url: 'https://api.example/docs/errors#not_found',
  } as const;
  expect(problemOf(404, { error })).toEqual({
    type: error.docs_url,
    title: 'The resource does not exist.',
    status: 404,
    detail: error.message,
    error,
  });
});
