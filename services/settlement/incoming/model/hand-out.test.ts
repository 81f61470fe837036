import { expect, test } from '@jest/globals';
import { CONFIRM_GRACE_MS, type HandOutState, hasChanged, nextStep, type Step } from './hand-out.ts';

const issued: HandOutState = {
  status: 'issued',
  chain_status: 'confirmed',
  hand_out_id: null,
  handed_out: false,
  is_refunded: false,
};
const withOther = { hand_out_id: 'h', handed_out: true };
const unconfirmed = { hand_out_id: 'h', handed_out: false };
const LONG = 2 * CONFIRM_GRACE_MS;

test.each<[string, Partial<HandOutState>, Step | null, number, Step]>([
  ['nobody has it', {}, null, LONG, 'hand out'],
  ['nobody has it, at the end of the call', {}, null, 0, 'hand out'],
  ['another call has it', withOther, null, LONG, 'hand out'],
  ['handed out, not confirmed', unconfirmed, null, LONG, 'await confirmation'],
  ['the same, too late to wait', unconfirmed, null, CONFIRM_GRACE_MS - 1, 'pending'],
  ['the same, refunded', { ...unconfirmed, is_refunded: true }, null, LONG, 'await confirmation'],
  ['no confirmation came', unconfirmed, 'await confirmation', LONG, 'hand out'],
  [
    'no confirmation came, refunded',
    { ...unconfirmed, is_refunded: true },
    'await confirmation',
    LONG,
    'refunded',
  ],
  ['the confirmation came', { status: 'redeemed' }, 'await confirmation', LONG, 'duplicate'],
  ['refunded', { is_refunded: true }, null, LONG, 'refunded'],
  ['redeemed', { status: 'redeemed' }, null, LONG, 'duplicate'],
  ['failed', { status: 'failed', chain_status: 'failed' }, null, LONG, 'failed'],
  ['failed while it waited', { status: 'failed', chain_status: 'failed' }, 'await change', LONG, 'failed'],
  ['the hand-out was in vain', withOther, 'hand out', LONG, 'await change'],
  ['the hand-out was in vain, at the end', withOther, 'hand out', 0, 'duplicate'],
  ['forked away, at the end', { chain_status: 'pending' }, 'hand out', 0, 'pending'],
  ['another call has lost it', unconfirmed, 'await change', LONG, 'await confirmation'],
  ['confirmed again', {}, 'await change', LONG, 'hand out'],
])('%s', (_name, row, previous, leftMs, expected) => {
  expect(nextStep({ ...issued, ...row }, previous, leftMs)).toBe(expected);
});

test('every path ends: no step waits twice without a step between', () => {
  const rows = [{}, withOther, unconfirmed, { is_refunded: true }, { chain_status: 'pending' as const }];
  for (const row of rows)
    for (const waiting of ['await confirmation', 'await change'] as const)
      expect(nextStep({ ...issued, ...row }, waiting, LONG)).not.toBe(waiting);
});

test.each<[Partial<HandOutState>, boolean]>([
  [withOther, false],
  [{ chain_status: 'pending' }, false],
  [{}, true],
  [unconfirmed, true],
  [{ ...withOther, is_refunded: true }, true],
  [{ status: 'redeemed' }, true],
])('a wait after another call: %j is a change: %s', (row, expected) => {
  expect(hasChanged({ ...issued, ...row })).toBe(expected);
});
