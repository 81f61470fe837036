import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { extended } from './extended.ts';
import { createConverter } from './openapi-schemas.ts';

const Base = z.strictObject({ id: z.string(), name: z.string().optional() }).meta({ id: 'Base' });

test('an object that extends another has the fields of both, and refuses others', () => {
  const both = extended(Base, { amount: z.string() }, { id: 'Both' });
  expect(both.parse({ id: 'a', amount: '1' })).toEqual({ id: 'a', amount: '1' });
  expect(both.safeParse({ amount: '1' }).success).toBe(false);
  expect(both.safeParse({ id: 'a', amount: '1', other: 1 }).success).toBe(false);
});

test('the document refers to the base once for all objects that extend it', () => {
  const { convert, components } = createConverter();
  const union = z.union([
    extended(Base, { amount: z.string() }, { id: 'Both' }),
    extended(Base, { note: z.string() }),
  ]);
  const base = { $ref: '#/components/schemas/Base' };
  expect(convert(union, { open: true })).toEqual({
    anyOf: [
      { $ref: '#/components/schemas/Both' },
      {
        allOf: [base],
        type: 'object',
        properties: { note: { type: 'string' } },
        required: ['note'],
      },
    ],
  });
  expect(components).toEqual({
    Base: {
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      required: ['id'],
    },
    Both: {
      allOf: [base],
      type: 'object',
      properties: { amount: { type: 'string' } },
      required: ['amount'],
    },
  });
});

test('a field of the base is not declared again', () => {
  expect(() => extended(Base, { name: z.string() })).toThrow('the base has the field already: name');
});

test('a request does not extend: its unknown fields are refused', () => {
  const { convert } = createConverter();
  expect(() => convert(extended(Base, { amount: z.string() }), { open: false })).toThrow('is for answers');
});
