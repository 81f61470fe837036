import { expect, test } from '@jest/globals';
import bs58 from 'bs58';
import { base58 } from './base58.ts';

test.each([[[]], [[0]], [[0, 0, 1]], [[255]], [Array.from({ length: 32 }, (_, i) => i * 7)]])(
  '%j is written as the reference implementation writes it',
  (bytes) => {
    expect(base58(Uint8Array.from(bytes))).toBe(bs58.encode(Uint8Array.from(bytes)));
  },
);
