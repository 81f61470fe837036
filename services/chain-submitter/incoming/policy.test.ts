import { describe, expect, test } from '@jest/globals';
import {
  address,
  buyer,
  limit,
  memo,
  network,
  pay,
  price,
  source,
  wire,
} from '../../../test/support/fixtures/chain-submitter/incoming-messages.ts';
import {
  ACCEPTED,
  evaluate,
  REFUSED,
  SIGNED,
  STOCK,
  X402,
} from '../../../test/support/fixtures/chain-submitter/policy-rows.ts';
import { decodeIncoming } from './envelope.ts';
import { checkIncomingPolicy } from './policy.ts';

describe('accepted', () => {
  test.each(ACCEPTED)('%s', (_name, bytes, order, expected) => {
    expect(evaluate(bytes(), order)).toBe(expected);
  });

  test('whatever the fee payer’s slot holds', () => {
    const bytes = wire(STOCK);
    bytes.fill(7, 1, 65);
    expect(evaluate(bytes)).toBe(SIGNED);
  });

  test('the source, the authority and the priority fee are read from the bytes', () => {
    const bytes = wire([limit(20_001), price(), pay(), memo('offer-1')]);
    const read = checkIncomingPolicy(decodeIncoming(bytes), X402, { network });
    expect(read).toMatchObject({ source, authority: address(buyer), priorityFeeLamports: 1n });
  });
});

describe('a buyer that signs last', () => {
  const unsigned = () => {
    const bytes = wire(STOCK);
    bytes.fill(0, 65, 129);
    return bytes;
  };
  const signatureIn = (bytes: Uint8Array, signsLast: boolean) =>
    checkIncomingPolicy(decodeIncoming(bytes), X402, { network, signsLast }).signature;

  test('has signed nothing, and only if that is asked for', () => {
    expect(signatureIn(unsigned(), true)).toBeNull();
    expect(() => signatureIn(unsigned(), false)).toThrow('does not match the message');
    expect(signatureIn(wire(STOCK), false)).toHaveLength(64);
    expect(() => signatureIn(wire(STOCK), true)).toThrow('has signed already');
    const almost = unsigned();
    almost[128] = 1;
    expect(() => signatureIn(almost, true)).toThrow('has signed already');
  });
});

describe('refused', () => {
  test.each(REFUSED.map((row) => [row[0], row] as const))('%s', (_name, row) => {
    const [, bytes, order, expected, programs] = row;
    expect(evaluate(bytes(), order, programs)).toBe(expected);
  });

  test('a changed byte of the message does not match the buyer’s signature, or does not decode', () => {
    const bytes = wire(STOCK);
    for (let index = 1 + 2 * 64; index < bytes.length; index += 1) {
      const changed = Uint8Array.from(bytes);
      changed[index]! ^= 1;
      expect(evaluate(changed)).not.toBe(SIGNED);
    }
  });
});
