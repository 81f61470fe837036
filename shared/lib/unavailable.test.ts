import { expect, test } from '@jest/globals';
import { BackendTerminatedError } from 'slonik';
import { isUnavailable } from './unavailable.ts';

const withCode = (code: string, cause?: unknown) => Object.assign(new Error('x', { cause }), { code });

test.each([
  ['Postgres shutting down', withCode('57P01'), true],
  ['Postgres starting up', withCode('57P03'), true],
  ['connection failure', withCode('08006'), true],
  ['refused', withCode('ECONNREFUSED'), true],
  ['wrapped', new Error('y', { cause: withCode('57P01') }), true],
  ['the error of slonik', new BackendTerminatedError(new Error('gone')), true],
  ['a unique violation', withCode('23505'), false],
  ['a syntax error', withCode('42601'), false],
  ['a bug', new TypeError('x is not a function'), false],
  ['no error at all', 'ECONNREFUSED', false],
])('an error means that a dependency is unavailable, or not: %s', (_name, error, expected) => {
  expect(isUnavailable(error)).toBe(expected);
});
