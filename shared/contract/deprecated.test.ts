import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { deprecatedField, deprecationHeaders, deprecationText, timesOf } from './deprecated.ts';
import { contractList, quote } from './index.ts';
import { openApiDocument } from './openapi.ts';
import { createConverter } from './openapi-schemas.ts';
import { MicroUsdc } from './primitives.ts';

const GET = { since: '2027-01-15', until: '2027-08-01', use: '`quote.get`' } as const;
const { list } = quote.operations as Record<string, object>;

afterEach(() => void Reflect.deleteProperty(list!, 'deprecated'));

test('the headers have the time of the mark, the end in the form of HTTP, and the page', () => {
  expect(deprecationHeaders(GET, 'https://api.example/docs/guides/versioning')).toEqual({
    deprecation: '@1799971200',
    sunset: 'Sun, 01 Aug 2027 00:00:00 GMT',
    link: '<https://api.example/docs/guides/versioning>; rel="deprecation"; type="text/html"',
  });
});

test.each([
  ['2027-02-30', '2028-01-01', '2027-02-30 is no day'],
  ['2027-01-15', '2027-07-01', 'at least 182 days, not until 2027-07-01'],
] as const)('since %s until %s is refused', (since, until, why) => {
  expect(() => timesOf({ since, until, use: 'x' })).toThrow(why);
});

test('the API document marks an operation and says what replaces it', () => {
  Object.assign(list!, { deprecated: GET });
  const { paths } = openApiDocument({ serverUrl: '/' }) as { paths: Record<string, Record<string, object>> };
  const described = paths['/v1/quotes']!.get as { deprecated?: boolean; description: string };
  expect(described.deprecated).toBe(true);
  expect(described.description).toContain(
    'Deprecated since 2027-01-15, and may be gone from 2027-08-01: use `quote.get`.',
  );
  expect(paths['/v1/quote']!.post).not.toHaveProperty('deprecated');
});

test('a field keeps its shape and its unit, and is marked', () => {
  const body = z
    .strictObject({
      price: deprecatedField(MicroUsdc.describe('The price'), { ...GET, use: '`net_amount`' }).optional(),
      name: deprecatedField(z.string().describe('Its name'), GET),
    })
    .meta({ id: 'Deprecating' });
  const { convert, components } = createConverter();
  convert(body, { open: false });
  const end = 'Deprecated since 2027-01-15, and may be gone from 2027-08-01: use';
  expect(components.Deprecating).toMatchObject({
    properties: {
      price: {
        $ref: '#/components/schemas/MicroUsdc',
        deprecated: true,
        description: `The price. ${end} \`net_amount\`. In USDC micro-units`,
      },
      name: { type: 'string', deprecated: true, description: `Its name. ${end} \`quote.get\`` },
    },
    required: ['name'],
  });
});

test('every deprecated operation stays as long as promised', () => {
  for (const { operations } of contractList)
    for (const { deprecated } of Object.values(operations))
      if (deprecated !== undefined) expect(deprecationText(deprecated)).toContain(deprecated.use);
});
