import { expect, test } from '@jest/globals';
import type { Json } from '../../shared/contract/examples.ts';
import { openApiDocument } from '../../shared/contract/openapi.ts';
import { differences } from './openapi-differences.ts';

const amount = { type: 'string', description: 'An amount' };
const inline = {
  type: 'object',
  properties: { id: { type: 'string' }, amount },
  required: ['amount', 'id'],
};
/** A document with one answer, and the components that it refers to. */
const documentOf = (schema: Json, schemas: Json = {}): Json => ({
  paths: { '/v1/quote': { get: { responses: { 200: { content: { json: { schema } } } } } } },
  components: { schemas, securitySchemes: {} },
});
const PLACE = '/paths//v1/quote/get/responses/200/content/json/schema';

test('a shape that got a name, and one that extends another, are the same', () => {
  const named = documentOf({ $ref: '#/components/schemas/Quote' }, { Quote: inline });
  const extending = documentOf(
    { $ref: '#/components/schemas/Quote' },
    {
      Amount: amount,
      Identified: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      Quote: {
        allOf: [{ $ref: '#/components/schemas/Identified' }],
        type: 'object',
        properties: { amount: { $ref: '#/components/schemas/Amount' } },
        required: ['amount'],
      },
    },
  );
  expect(differences(documentOf(inline), named)).toEqual([]);
  expect(differences(documentOf(inline), extending)).toEqual([]);
});

test('another description, a missing field and a field that is no longer required are found', () => {
  const changed = (properties: Json, required = ['amount', 'id']) =>
    differences(documentOf(inline), documentOf({ type: 'object', properties, required }));
  expect(changed({ id: { type: 'string' }, amount: { ...amount, description: 'A sum' } })).toEqual([
    { place: `${PLACE}/properties/amount/description`, before: 'An amount', after: 'A sum' },
  ]);
  expect(changed({ amount })).toEqual([
    { place: `${PLACE}/properties/id`, before: { type: 'string' }, after: undefined },
  ]);
  expect(changed(inline.properties, ['amount'])).toEqual([
    { place: `${PLACE}/required`, before: ['amount', 'id'], after: ['amount'] },
  ]);
});

test('a description beside a reference wins, and one that got lost is found', () => {
  const schemas = { Amount: amount };
  const reference = { $ref: '#/components/schemas/Amount' };
  const described = documentOf({ ...reference, description: 'What is left' }, schemas);
  expect(differences(documentOf({ ...amount, description: 'What is left' }), described)).toEqual([]);
  expect(differences(described, documentOf(reference, schemas))).toEqual([
    { place: `${PLACE}/description`, before: 'What is left', after: 'An amount' },
  ]);
});

test('a schema that contains itself has an end', () => {
  const reference = { $ref: '#/components/schemas/Any' };
  const recursive = documentOf(reference, { Any: { type: 'array', items: reference } });
  expect(differences(recursive, recursive)).toEqual([]);
  const other = documentOf(reference, { Any: { type: 'array', items: reference, maxItems: 1 } });
  expect(differences(recursive, other)).toHaveLength(1);
});

test('the API document differs from itself in nothing, and from one without a path in that path', () => {
  const document = openApiDocument({ serverUrl: '/' });
  expect(differences(document, JSON.parse(JSON.stringify(document)))).toEqual([]);
  const { '/v1/settle': _, ...paths } = document.paths as Json;
  expect(differences(document, { ...document, paths }).map(({ place }) => place)).toEqual([
    '/paths//v1/settle',
  ]);
});
