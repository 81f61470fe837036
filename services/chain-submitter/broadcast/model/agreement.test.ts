import { expect, test } from '@jest/globals';
import { compareViews, findAgreedError, type SignatureStatus } from './agreement.ts';

const ERROR = { InstructionError: [0, { Custom: 1 }] };
const at = (level: 'processed' | 'confirmed' | 'finalized', err: object | null = null): SignatureStatus => ({
  slot: 1,
  err,
  confirmationStatus: level,
});

test.each<[string, SignatureStatus[], string]>([
  ['no provider has it', [null, null], 'unknown'],
  ['one has it, unconfirmed', [null, at('processed')], 'processed'],
  ['one has it as confirmed', [null, at('confirmed')], 'confirmed'],
  ['one has it as final, another as confirmed', [at('finalized'), at('confirmed')], 'confirmed'],
  ['one has it as final, another does not have it', [at('finalized'), null], 'confirmed'],
  ['all have it as final', [at('finalized'), at('finalized')], 'finalized'],
  ['an error that is not final', [at('confirmed', ERROR), null], 'processed'],
  ['an error that one has as final', [at('finalized', ERROR), null], 'failed'],
  ['an error and a success', [at('finalized', ERROR), at('confirmed')], 'contradiction'],
  // A transaction that is only processed may be on the losing side of a fork.
  ['a success and an error on another fork', [at('confirmed'), at('processed', ERROR)], 'confirmed'],
])('the state that the providers agree on: %s', (_name, statuses, expected) => {
  expect(compareViews(statuses.map((status, index) => ({ provider: index + 1, status })))).toBe(expected);
});

test.each<[string, SignatureStatus[], object | null]>([
  ['all', [at('finalized', ERROR), at('finalized', ERROR)], ERROR],
  ['one, and another does not have it', [at('finalized', ERROR), null], null],
  ['one, for another it is not final', [at('finalized', ERROR), at('confirmed', ERROR)], null],
  ['one, and for another it succeeded', [at('finalized', ERROR), at('finalized')], null],
  ['no provider was queried', [], null],
])('a transaction has failed when every provider reports it: %s', (_name, statuses, expected) => {
  expect(findAgreedError(statuses.map((status, index) => ({ provider: index + 1, status })))).toEqual(
    expected,
  );
});
