import { writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import {
  ApiError,
  NoAnswerError,
  PaidElsewhereError,
  PaymentUndecidedError,
  UnauthorizedError,
} from '../../../sdk/src/main.ts';
import {
  NotDeliveredError,
  PriceAboveCapError,
  type QuoteClaims,
  WindowTooLongError,
} from '../../../sdk/src/pay/main.ts';
import { FailedError, InterruptedError, NotSignedInError, RefusedError, UsageError } from '../errors.ts';
import { failureLines, failureOf } from '../failure.ts';
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts';

const info = { status: 400, requestId: 'req_1', retryAfterMs: null };
const refusal = (code: string, more: object = {}) =>
  new ApiError({ code, message: 'it is refused', ...more }, info);
const quote = { quote_amount: '50000' } as QuoteClaims;

test.each([
  ['a wrong option', new UsageError('x'), 2],
  ['no sign-in', new NotSignedInError('x'), 3],
  ['an invalid key', new UnauthorizedError({ code: 'unauthorized', message: 'x' }, info), 3],
  ['an old sign-in', refusal('reauthentication_required'), 3],
  ['a price above the maximum', new PriceAboveCapError('maxAmount', quote, 1n), 4],
  ['a limit of the key', refusal('limit_exceeded', { money_moved: 'no' }), 4],
  ['a denied approval', refusal('approval_denied', { money_moved: 'no' }), 4],
  ['a 402 that cannot be paid', new RefusedError('x'), 4],
  ['a payment without an outcome', new PaymentUndecidedError('a', 'q', null), 5],
  ['a payment by another key', new PaidElsewhereError('s', 'a', 'q', null), 5],
  ['an error in the middle of a payment', refusal('internal_error', { money_moved: 'unknown' }), 5],
  ['a vendor that does not deliver', new NotDeliveredError('x', 's', 'r'), 6],
  ['an approval that is needed', refusal('approval_required', { money_moved: 'no' }), 7],
  ['no answer to a payment', new NoAnswerError('x'), 5],
  ['no answer to a read', new NoAnswerError('x', { moves: false }), 1],
  ['an unknown id', refusal('not_found'), 1],
  ['Ctrl-C', new InterruptedError('x', null, 'no'), 130],
  ['any other failure', new FailedError('x'), 1],
  ['an error of the program', new TypeError('x'), 1],
])('%s ends with its code', (_name, error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

test('the codes are distinct', () => {
  const codes = Object.values(EXIT_CODES).map(([code]) => code);
  expect(codes).toEqual([...new Set(codes)]);
});

test('an error of the API is shown with its fields, code, request id and next step', () => {
  const error = refusal('limit_exceeded', {
    money_moved: 'no',
    safe_action: 'raise_limit',
    settlement_id: 'stl_1',
    docs_url: 'https://api.example.com/docs/errors#limit_exceeded',
    details: [{ path: 'quote_amount', message: 'too much' }],
  });
  expect(failureLines(failureOf(error))).toEqual([
    'Error: it is refused',
    '  quote_amount: too much',
    'Money moved: no',
    'Settlement: stl_1',
    'Code: limit_exceeded, request id: req_1',
    'About this error: https://api.example.com/docs/errors#limit_exceeded',
    'Next: Raise the limit of the key or the spending limit of the wallet, in the console.',
  ]);
});

test('the next step of a price above the maximum is the command that pays it', () => {
  expect(failureOf(new PriceAboveCapError('maxAmount', quote, 1n)).next).toBe(
    'To pay it, repeat the command with --max 0.05.',
  );
});

test('the next step of a window that is too long is the option that allows it', () => {
  expect(failureOf(new WindowTooLongError(quote, 604_800, 86_400))).toMatchObject({
    ...{ exit_code: 4, next: 'To allow that, repeat the command with --max-window 604800.' },
    message:
      'The vendor could hold 0.05 USDC for 604800 seconds, which is longer than maxWindowSeconds (86400).',
  });
});

const lineOf = (error: Error): string => failureLines(failureOf(error))[0]!;
const noAnswer = (cause: object): Error => new TypeError('fetch failed', { cause });

test('why fetch got no answer is said in words', async () => {
  expect(lineOf(noAnswer({ message: '', code: 'ECONNREFUSED' }))).toBe(
    'Error: the server was not reached: nothing listens at its address and port (ECONNREFUSED)',
  );
  // Errors of Node are of another realm than this test.
  const badPort = (await fetch('http://127.0.0.1:6000/').catch((error: Error) => error)) as Error;
  expect(lineOf(noAnswer(badPort.cause as Error))).toMatch(
    /^Error: the server was not reached: no program may call its port/,
  );
  expect(lineOf(noAnswer({ message: 'other side closed', code: 'UND_ERR_SOCKET' }))).toBe(
    'Error: the server was not reached: other side closed',
  );
});

test('a file that exists, and one that cannot be, are named', async () => {
  const failing = async (file: string, flag: string) =>
    writeFile(file, '', { flag }).then(
      () => new Error('written'),
      ({ message, code, path }: NodeJS.ErrnoException) => Object.assign(new Error(message), { code, path }),
    );
  const here = import.meta.filename;
  expect(lineOf(await failing(here, 'wx'))).toBe(
    `Error: ${here} exists already; name another file, or remove it`,
  );
  expect(lineOf(await failing(`${here}/a`, 'w'))).toBe(`Error: ${here}/a is in a path that is not a folder`);
});
