import { expect, test } from '@jest/globals';
import {
  assemble,
  disassemble,
  hashMessage,
  isIncomplete,
  messageHashOf,
  messageOf,
} from './wire-transaction.ts';

/** A message of two signers in each of its two formats. */
const legacy = Buffer.from([2, 0, 1, 9]);
const versioned = Buffer.from([0x80, 2, 0, 1, 9]);
const signature = (byte: number) => new Uint8Array(64).fill(byte);
const base64 = (wire: Uint8Array) => Buffer.from(wire).toString('base64');

test.each([
  ['legacy', legacy],
  ['version 0', versioned],
])('signatures give a %s message no second identity', (_, message) => {
  const signed = [
    [null, signature(1)],
    [signature(2), signature(1)],
    [null, null],
  ].map((signatures) => base64(assemble(message, signatures)));
  expect(new Set(signed).size).toBe(3);
  expect(signed.map(messageHashOf)).toEqual([1, 2, 3].map(() => hashMessage(message)));
});

test('what is assembled is split into the same signatures and message', () => {
  const wire = assemble(legacy, [signature(1), null]);
  expect(disassemble(wire)).toEqual({
    signatures: [Buffer.alloc(64, 1), Buffer.alloc(64)],
    message: legacy,
  });
  expect(messageOf(base64(wire))).toEqual(legacy);
});

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['no signature', Buffer.from([0, 1, 0, 0])],
  ['no message after the signatures', Buffer.from([1, ...signature(1)])],
  ['fewer signatures than signers', assemble(legacy, [signature(1)])],
  ['more signatures than signers', assemble(versioned, [null, null, null])],
  ['a count in two bytes', Buffer.concat([Buffer.of(0x82), assemble(legacy, [null, null])])],
  ['bytes that no network carries', assemble(Buffer.alloc(1200, 2), [null, null])],
])('no identity: %s', (_, wire) => {
  expect(messageHashOf(base64(wire))).toBeNull();
});

test('bytes are incomplete while a slot is empty', () => {
  expect(isIncomplete(assemble(legacy, [signature(2), null]))).toBe(true);
  expect(isIncomplete(assemble(legacy, [null, signature(1)]))).toBe(true);
  expect(isIncomplete(assemble(legacy, [signature(2), signature(1)]))).toBe(false);
  // An adopted transaction, which was sent by somebody.
  expect(isIncomplete(new Uint8Array())).toBe(false);
});
