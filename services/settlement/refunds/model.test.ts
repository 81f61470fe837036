import { expect, test } from '@jest/globals';
import type { ChainStatus, Status } from '../record/model/status.ts';
import { refundOf } from './model.ts';

test.each<[Status, ChainStatus, reserved: bigint, wanted: bigint | null, string]>([
  ['pending', 'pending', 0n, 1n, 'the payment is not confirmed yet'],
  ['failed', 'failed', 0n, 1n, 'the payment failed, so there is nothing to refund'],
  ['issued', 'pending', 0n, 1n, 'the payment is being confirmed again after a fork of the chain'],
  ['redeemed', 'pending', 0n, 1n, 'the payment is being confirmed again after a fork of the chain'],
  ['redeemed', 'failed', 0n, 1n, 'the payment was reversed on chain'],
  ['issued', 'confirmed', 0n, null, '990'],
  ['issued', 'confirmed', 0n, 990n, '990'],
  ['issued', 'confirmed', 0n, 991n, 'at most 990 micro-units of the net amount are left to refund'],
  ['issued', 'confirmed', 0n, 1n, '1'],
  ['redeemed', 'confirmed', 989n, null, '1'],
  ['redeemed', 'finalized', 989n, 1n, '1'],
  ['redeemed', 'finalized', 989n, 2n, 'at most 1 micro-units of the net amount are left to refund'],
  ['expired', 'finalized', 100n, 890n, '890'],
  ['expired', 'finalized', 990n, 1n, 'the whole net amount is refunded already, or being refunded'],
  ['expired', 'finalized', 990n, null, 'the whole net amount is refunded already, or being refunded'],
])('refund of %s/%s with %s reserved and %s requested', (status, chain, reservedMicro, wanted, expected) => {
  const answer = refundOf({ status, chain, netMicro: 990n, reservedMicro }, wanted);
  expect('refused' in answer ? answer.refused : `${answer.amountMicro}`).toBe(expected);
});
