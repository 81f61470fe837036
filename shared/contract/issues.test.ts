import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { contractList } from './index.ts';
import { inputIssues } from './issues.ts';
import { MicroUsdc, Moment, pageQuery, QuoteId, Timestamp } from './primitives.ts';

const limits = z.strictObject({ daily: MicroUsdc.optional(), monthly: MicroUsdc.optional() });
const schema = z
  .strictObject({
    amount: MicroUsdc,
    service_id: z.string(),
    name: z.string().min(1).max(8),
    seconds: z.int().min(30).max(600),
    share: z.number().gt(0).lt(1),
    step: z.int().multipleOf(5),
    enabled: z.boolean(),
    kind: z.enum(['service', 'delegate']),
    currency: z.literal('USDC'),
    address: z.email(),
    since: Timestamp,
    until: Moment.optional().meta({ description: 'When the key ends' }),
    any: z.union([z.string(), z.boolean(), z.null()]),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    names: z.array(z.string()).min(1).max(2),
    quote_token: z.string(),
    pay_to: z.union([z.literal('any'), z.array(z.string()).min(1)]),
    choice: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('a') }),
      z.strictObject({ type: z.literal('b') }),
    ]),
    metadata: z.record(z.string().max(4), z.string()),
    even: z.string().refine((text) => text.length % 2 === 0),
    limits,
    ...pageQuery,
  })
  .partial();
const required = z.strictObject({ amount: MicroUsdc, quote_id: QuoteId });
const ALL = Object.keys(schema.shape).slice(0, 20).join(', ');

const ANY_OF = 'must be a string, true or false or null; got a number with a fraction';

test.each<[string, z.ZodType, unknown, string, string]>([
  ['a missing field', required, { quote_id: 'q_1' }, 'amount', 'is required'],
  [
    'a number as amount',
    schema,
    { amount: 50000 },
    'amount',
    'must be a string of digits, for example "2500000"; got a number',
  ],
  [
    'a fraction as amount',
    schema,
    { amount: 0.05 },
    'amount',
    'must be a string of digits, for example "2500000"; got a number with a fraction',
  ],
  [
    'USDC instead of micro-units',
    schema,
    { amount: '0.05' },
    'amount',
    'must be USDC micro-units: digits without sign, point or leading zero, for example "50000" for 0.05 USDC',
  ],
  [
    'an amount of 2^63',
    schema,
    { amount: '9223372036854775808' },
    'amount',
    'is too large: must be at most 9223372036854775807',
  ],
  ['null', schema, { service_id: null }, 'service_id', 'must be a string; got null'],
  ['a list as text', schema, { service_id: ['a'] }, 'service_id', 'must be a string; got a list'],
  ['an object as text', schema, { service_id: {} }, 'service_id', 'must be a string; got an object'],
  ['an empty text', schema, { name: '' }, 'name', 'must not be empty'],
  ['a long text', schema, { name: '123456789' }, 'name', 'must have at most 8 characters'],
  ['text as a whole number', schema, { seconds: '600' }, 'seconds', 'must be a whole number; got a string'],
  [
    'a fraction as a whole number',
    schema,
    { seconds: 30.5 },
    'seconds',
    'must be a whole number; got a number with a fraction',
  ],
  ['a number that is too small', schema, { seconds: 29 }, 'seconds', 'must be at least 30'],
  ['a number that is too large', schema, { seconds: 601 }, 'seconds', 'must be at most 600'],
  ['an exclusive minimum', schema, { share: 0 }, 'share', 'must be more than 0'],
  ['an exclusive maximum', schema, { share: 1 }, 'share', 'must be less than 1'],
  ['a number between the steps', schema, { step: 7 }, 'step', 'must be a multiple of 5'],
  ['text as a truth value', schema, { enabled: 'true' }, 'enabled', 'must be true or false; got a string'],
  ['another value of an enumeration', schema, { kind: 'vendor' }, 'kind', 'must be "service" or "delegate"'],
  ['another literal', schema, { currency: 'EUR' }, 'currency', 'must be "USDC"'],
  ['no mail address', schema, { address: 'ada' }, 'address', 'must be an e-mail address'],
  [
    'no time',
    schema,
    { since: 'yesterday' },
    'since',
    'must be ISO 8601, UTC, for example "2026-11-21T10:00:00.000Z"',
  ],
  [
    'no time, in a field with a description of its own',
    schema,
    { until: 'tomorrow' },
    'until',
    'must be ISO 8601, UTC, for example "2026-11-21T10:00:00.000Z"',
  ],
  [
    'a time of another zone',
    schema,
    { until: '2026-11-21T10:00:00+02:00' },
    'until',
    'must be in UTC: end it with Z or +00:00',
  ],
  [
    'a time without a zone',
    schema,
    { until: '2026-11-21T10:00:00' },
    'until',
    'must be in UTC: end it with Z or +00:00',
  ],
  [
    'a day that does not exist',
    schema,
    { until: '2026-02-30T10:00:00Z' },
    'until',
    'must be a time that exists, not before 1970',
  ],
  ['alternatives of several kinds', schema, { any: 1.5 }, 'any', ANY_OF],
  ['a text without the pattern', schema, { hash: 'x' }, 'hash', 'has the wrong form'],
  [
    'an id of another kind',
    required,
    { amount: '1', quote_id: 'stl_1' },
    'quote_id',
    'must be an id that begins with q_',
  ],
  ['an empty list', schema, { names: [] }, 'names', 'must not be empty'],
  ['a list that is too long', schema, { names: ['a', 'b', 'c'] }, 'names', 'must have at most 2 items'],
  ['a wrong item', schema, { names: [1] }, 'names.0', 'must be a string; got a number'],
  [
    'a value of no alternative',
    schema,
    { pay_to: 1 },
    'pay_to',
    'must be "any", or must be a list; got a number',
  ],
  ['an unknown discriminator', schema, { choice: { type: 'c' } }, 'choice.type', 'must be "a" or "b"'],
  [
    'a name that is not allowed',
    schema,
    { metadata: { abcde: '' } },
    'metadata.abcde',
    'has a field name that is not allowed: it must have at most 4 characters',
  ],
  ['a rule without message', schema, { even: 'a' }, 'even', 'is not valid'],
  ['a page size', schema, { limit: '101' }, 'limit', 'must be 1 to 100'],
  ['no object at all', schema, [], '', 'must be an object; got a list'],
  [
    'a misspelt field',
    schema,
    { amont: '1' },
    'amont',
    `unknown field; did you mean \`amount\`? Allowed: ${ALL}, …`,
  ],
  [
    'two swapped letters',
    limits,
    { dialy: '1' },
    'dialy',
    'unknown field; did you mean `daily`? Allowed: daily, monthly',
  ],
  [
    'another case',
    schema,
    { serviceId: 'x' },
    'serviceId',
    `unknown field; did you mean \`service_id\`? Allowed: ${ALL}, …`,
  ],
  [
    'one word of a name',
    schema,
    { token: 'x' },
    'token',
    `unknown field; did you mean \`quote_token\`? Allowed: ${ALL}, …`,
  ],
  ['an unknown field', limits, { weekly_cap: '1' }, 'weekly_cap', 'unknown field; allowed: daily, monthly'],
  ['a short unknown field', limits, { x: '1' }, 'x', 'unknown field; allowed: daily, monthly'],
  [
    'an unknown field inside',
    schema,
    { limits: { dayly: '1' } },
    'limits.dayly',
    'unknown field; did you mean `daily`? Allowed: daily, monthly',
  ],
  [
    'a field where none is allowed',
    z.strictObject({}),
    { x: 1 },
    'x',
    'unknown field; no field is allowed here',
  ],
])('%s', (_name, given, value, path, message) => {
  expect(inputIssues(given, value)[0]).toEqual({ path, message });
});

test('a misspelt field is named before the required one that is missing, and all are in the list', () => {
  expect(inputIssues(required, { ammount: '1', quoteid: 'q_1', other: 1 }).map(({ path }) => path)).toEqual([
    'ammount',
    'quoteid',
    'amount',
    'quote_id',
    'other',
  ]);
});

test('a valid input has no issue, and a refused one at most 20', () => {
  expect(inputIssues(required, { amount: '1', quote_id: 'q_01kaj5w0c0e8h9x2m4n6p8q0rs' })).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`unknown_${i}`, 1]));
  expect(inputIssues(required, many)).toHaveLength(20);
});

/** Values that a caller may send for any field, valid or not. */
const SENT = [
  undefined,
  null,
  5,
  -1,
  1.5,
  1e300,
  true,
  '',
  'x',
  'secret',
  [],
  ['secret'],
  {},
  { secret: 'secret' },
];
const fields = contractList.flatMap(({ operations }) =>
  Object.values(operations).flatMap(({ params, query, body }) =>
    [params, query, body].flatMap((part) => Object.keys(part.shape).map((name) => ({ part, name }))),
  ),
);

test('every issue that a field of the contract can have is described in our words, without its value', () => {
  expect(fields.length).toBeGreaterThan(150);
  const strange = new Set<string>();
  for (const { part, name } of fields)
    for (const value of SENT) {
      const sent = typeof value === 'object' && value !== null ? value : { [name]: value };
      for (const input of [{ [name]: value }, sent])
        for (const { path, message } of inputIssues(part, input)) {
          const isOurs = /^(is required|is not valid|must |has |unknown field; )/.test(message);
          if (!isOurs || (message.includes('secret') && path !== 'secret'))
            strange.add(`${path}: ${message}`);
        }
    }
  expect([...strange]).toEqual([]);
});
