import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { parseKnown, readKnown } from './read.ts';

const Leg = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('own'), wallet: z.string() }),
  z.strictObject({ kind: z.literal('foreign'), address: z.string() }),
]);
const Shape = z
  .strictObject({
    id: z.string(),
    amount: z.string().optional(),
    payer: z.strictObject({ owner: z.string() }).nullable(),
    legs: z.array(Leg),
    either: z.union([z.strictObject({ a: z.string() }), z.strictObject({ a: z.string(), b: z.string() })]),
    notes: z.record(z.string(), z.json()),
  })
  .refine(({ legs }) => legs.length > 0, 'has no leg');
const message = {
  id: '1',
  payer: { owner: 'o' },
  legs: [{ kind: 'own', wallet: 'w' }],
  either: { a: 'a', b: 'b' },
  notes: { any: { thing: 1 } },
};

test.each<[string, unknown, unknown]>([
  ['what this version writes', message, message],
  ['a field', { ...message, later: 1 }, message],
  ['a field named like a method', JSON.parse(JSON.stringify({ ...message, toString: 1 })), message],
  ['a field of an object', { ...message, payer: { owner: 'o', later: [1] } }, message],
  ['a field in a list', { ...message, legs: [{ kind: 'own', wallet: 'w', later: null }] }, message],
  ['a field of the longer of two shapes', { ...message, either: { a: 'a', b: 'b', later: 1 } }, message],
  [
    'several fields',
    { ...message, x: 1, payer: { owner: 'o', y: 2 }, either: { a: 'a', b: 'b', z: 3 } },
    message,
  ],
])('read with %s that is unknown', (_, given, wanted) => {
  const before = structuredClone(given);
  expect(parseKnown(Shape, given)).toEqual(wanted);
  expect(given).toEqual(before);
});

test.each<[string, unknown]>([
  ['without a field', { ...message, id: undefined, later: 1 }],
  ['with another type', { ...message, id: 1, later: 1 }],
  ['of a kind that is unknown', { ...message, legs: [{ kind: 'later', x: 1 }] }],
  ['that breaks a rule over several fields', { ...message, legs: [], later: 1 }],
  ['that is a text', 'later'],
  ['that is null', null],
])('a message %s is refused', (_, given) => {
  expect(readKnown(Shape, given).success).toBe(false);
  expect(() => parseKnown(Shape, given)).toThrow();
});
