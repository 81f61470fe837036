import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Json } from '../shared/contract/examples.ts';
import { contractList } from '../shared/contract/index.ts';
import { llmsText } from '../shared/contract/llms.ts';
import { openApiDocument, operationId } from '../shared/contract/openapi.ts';
import { placeOf, TAGS } from '../shared/contract/tags.ts';

/** The API document is valid OpenAPI, and its examples are valid by the contract. */

const document = openApiDocument({ serverUrl: 'https://api.example' });
const operations = contractList.flatMap(({ name: service, operations: own }) =>
  Object.entries(own).map(([name, op]) => [operationId(service, name), op] as const),
);
type Content = { content?: { 'application/json': { example?: unknown } } };
type Described = {
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
const described = (path: string, method: string): Described =>
  (document.paths as Record<string, Json>)[path.replace(/:(\w+)/g, '{$1}')]![
    method.toLowerCase()
  ] as Described;
const exampleIn = (part: Content | undefined) => part?.content?.['application/json'].example;

test('the API document is valid OpenAPI 3.1, and a broken one is not', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const broken = { ...structuredClone(document), paths: { '/v1/quote': { post: { responses: 'none' } } } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test.each(operations)('%s: the contract accepts its examples of requests and answers', (_id, op) => {
  const { http, params, body, output, rawBody } = op;
  const { parameters = [], requestBody, responses } = described(http.path, http.method);
  const path = parameters.filter((each) => each.in === 'path').map(({ name, example }) => [name, example]);
  expect(params.safeParse(Object.fromEntries(path)).error?.issues).toBeUndefined();
  if (requestBody !== undefined && rawBody !== true) {
    expect(body.safeParse(exampleIn(requestBody)).error?.issues).toBeUndefined();
  }
  for (const status of [http.status, http.alternative?.status]) {
    if (status === undefined || status === 204) continue;
    expect(output.safeParse(exampleIn(responses[status])).error?.issues).toBeUndefined();
  }
});

test('every operation is in exactly one part of the reference', () => {
  const placed = TAGS.flatMap((tag) => tag.operations);
  expect(placed.toSorted()).toEqual(operations.map(([id]) => id).toSorted());
  expect(document.tags).toEqual(TAGS.map(({ name, description }) => ({ name, description })));
  expect(() => placeOf('quote.destroy')).toThrow('shared/contract/tags.ts');
});

/** Components whose description names their form only, so that each use needs its own meaning. */
const FORMS = [
  ...['Timestamp', 'MicroUsdc', 'MicroUsdcOrZero', 'SolanaAddress', 'TransactionHash'],
  ...['WireTransaction', 'CompactToken', 'Email', 'Environment'],
].map((name) => `#/components/schemas/${name}`);
const components = (document.components as { schemas: Record<string, Json> }).schemas;

const isDescribed = (field: Json): boolean => {
  const { description, $ref, anyOf = [] } = field;
  if (typeof description === 'string' && description !== '') return true;
  if (typeof $ref === 'string' && !FORMS.includes($ref))
    return isDescribed(components[$ref.split('/').at(-1)!]!);
  return (anyOf as Json[]).some(isDescribed);
};

/** The fields and parameters of a part of the document that nothing explains, by their place. */
const undescribed = (node: unknown, place: string): string[] => {
  if (typeof node !== 'object' || node === null) return [];
  const { properties, schema, in: isIn, name } = node as Json;
  const fields = Object.entries((properties ?? {}) as Record<string, Json>)
    .filter(([, field]) => !isDescribed(field))
    .map(([field]) => `${place}.${field}`);
  const parameter = isIn !== undefined && !isDescribed(node as Json) && !isDescribed(schema as Json);
  // The other members of `allOf` narrow the fields of the first, which describes them.
  const parts = Object.entries(node).filter(([key]) => !['example', 'examples'].includes(key));
  return [
    ...fields,
    ...(parameter ? [`${place} ${String(name)}`] : []),
    ...parts.flatMap(([key, part]) =>
      undescribed(key === 'allOf' ? [(part as unknown[])[0]] : part, `${place}/${key}`),
    ),
  ];
};

test('every field of requests, answers and events, and every parameter, has a description', () => {
  expect(undescribed(document, '')).toEqual([]);
  const broken = { properties: { at: { $ref: '#/components/schemas/Timestamp' }, id: { type: 'string' } } };
  expect(undescribed(broken, 'broken')).toEqual(['broken.at', 'broken.id']);
});

test('the page for language models names every endpoint, and is short', () => {
  const text = llmsText({ serverUrl: 'https://api.example' });
  for (const [, { http }] of operations) expect(text).toContain(`\`${http.method} ${http.path}\``);
  expect(text).toContain('safe_action');
  expect(text.length).toBeLessThan(18_000);
});
