import { expect, test } from '@jest/globals';
import { fieldsOf } from './schema-fields.ts';

const document = {
  components: {
    schemas: {
      Micro: { type: 'string', description: 'USDC micro-units' },
      Limits: { type: 'object', properties: { daily: { $ref: '#/components/schemas/Micro' } } },
    },
  },
};

test('the fields of a schema have type, description, bounds and whether they are required', () => {
  const schema = {
    type: 'object',
    required: ['amount'],
    properties: {
      amount: { $ref: '#/components/schemas/Micro', description: 'What is paid' },
      limits: { anyOf: [{ $ref: '#/components/schemas/Limits' }, { type: 'null' }] },
      status: { enum: ['a', 'b'] },
      names: { type: 'array', items: { type: 'string' }, maxItems: 50 },
      count: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'How many' },
    },
  };
  expect(fieldsOf(document, schema)).toEqual([
    { name: 'amount', type: 'string', required: true, text: 'What is paid' },
    { name: 'limits', type: 'object or null', required: false, text: '' },
    { name: 'limits.daily', type: 'string', required: false, text: 'USDC micro-units' },
    { name: 'status', type: '`"a"`, `"b"`', required: false, text: '' },
    { name: 'names', type: 'array of string', required: false, text: '(0 to 50 items)' },
    { name: 'count', type: 'integer', required: false, text: 'How many (1 to 100; default `20`)' },
  ]);
});

test('alternatives and parts add their fields once', () => {
  const part = (name: string) => ({ type: 'object', properties: { id: { type: 'string' }, [name]: {} } });
  const names = fieldsOf(document, { allOf: [part('a')], anyOf: [part('b'), part('c')] }).map(
    ({ name }) => name,
  );
  expect(names).toEqual(['id', 'a', 'b', 'c']);
});
