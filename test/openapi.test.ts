import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Json } from '../shared/contract/examples.ts';
import { contractList } from '../shared/contract/index.ts';
import { llmsText } from '../shared/contract/llms.ts';
import { openApiDocument, operationId } from '../shared/contract/openapi.ts';
import { placeOf, TAGS } from '../shared/contract/tags.ts';
import { resolved } from './support/base/openapi-references.ts';

/** The API document is valid OpenAPI, and its examples are valid by the contract. */

const document = openApiDocument({ serverUrl: 'https://api.example' });
const { paths } = resolved(document) as { paths: Record<string, Json> };
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
  paths[path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()] as Described;
const exampleIn = (part: Content | undefined) => part?.content?.['application/json'].example;

test('the API document is valid OpenAPI 3.1, and a broken one is not', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const broken = { ...structuredClone(document), paths: { '/v1/quote': { post: { responses: 'none' } } } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

const walk = (node: unknown, visit: (object: Json) => void): void => {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) visit(node as Json);
  for (const value of Object.values(node)) walk(value, visit);
};
const resolve = (ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);

test('every reference resolves, every component is used, every operation is included', () => {
  const refs = new Set<string>();
  walk(document, ({ $ref }) => typeof $ref === 'string' && refs.add($ref));
  expect([...refs].filter((ref) => !ref.startsWith('#/components/') || resolve(ref) === undefined)).toEqual(
    [],
  );
  const { schemas, responses, parameters } = (document as { components: Record<string, Json> }).components;
  const named = Object.entries({ schemas, responses, parameters }).flatMap(([kind, components]) =>
    Object.keys(components!).map((name) => `#/components/${kind}/${name}`),
  );
  expect(named.filter((name) => !refs.has(name))).toEqual([]);
  const ids: string[] = [];
  walk(document.paths, ({ operationId: id }) => typeof id === 'string' && ids.push(id));
  expect(ids).toHaveLength(operations.length);
  expect(new Set(ids)).toEqual(new Set(operations.map(([id]) => id)));
});

test('settle answers 200 with a token and 202 without one', () => {
  const { responses } = paths['/v1/settle']!.post as { responses: Record<string, Json> };
  expect(JSON.stringify(responses[200])).toContain('settlement_token');
  expect(JSON.stringify(responses[202])).not.toContain('settlement_token');
  expect(Object.keys(responses)).toEqual(
    expect.arrayContaining(['400', '401', '402', '403', '409', '410', '413', '415', '429', '500', '503']),
  );
});

test('request schemas refuse unknown fields, and answer schemas allow new ones', () => {
  const post = (document.paths as Record<string, Record<string, Json>>)['/v1/quote']!.post as Json;
  expect(JSON.stringify(post.requestBody)).toContain('#/components/schemas/CreateQuoteRequest');
  expect(resolve('#/components/schemas/CreateQuoteRequest')).toMatchObject({ additionalProperties: false });
  expect(JSON.stringify(resolve('#/components/schemas/Quote'))).not.toContain('"additionalProperties":false');
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

const isNamed = ({ $ref, anyOf, oneOf }: Json): boolean =>
  typeof $ref === 'string' || (((anyOf ?? oneOf) as Json[] | undefined)?.every(isNamed) ?? false);
/** The schemas of bodies in a part of the document, by their place. */
const bodySchemas = (node: unknown, place: string): [string, Json][] => {
  if (typeof node !== 'object' || node === null) return [];
  const { content } = node as { content?: { 'application/json': { schema: Json } } };
  if (content !== undefined) return [[place, content['application/json'].schema]];
  return Object.entries(node).flatMap(([key, part]) => bodySchemas(part, `${place}/${key}`));
};

test('every body of a request, an answer and an event has a name', () => {
  const bodies = bodySchemas({ paths: document.paths, webhooks: document.webhooks }, '');
  expect(bodies.length).toBeGreaterThan(200);
  const unnamed = bodies.filter(([, schema]) => !isNamed(schema)).map(([place]) => place);
  // Its sender determines its fields.
  expect(unnamed).toEqual(['/paths//v1/providers/{provider}/{environment}/webhook/post/requestBody']);
});

/** The text of every object with at least two fields in a part of the document. */
const objectsIn = (node: unknown): string[] => {
  if (typeof node !== 'object' || node === null) return [];
  const { type, properties } = node as Json;
  const isObject = type === 'object' && Object.keys(properties ?? {}).length > 1;
  return [...(isObject ? [JSON.stringify(node)] : []), ...Object.values(node).flatMap(objectsIn)];
};

test('no object with several fields is written twice: it has a name in the contract', () => {
  const repeated = [...Map.groupBy(objectsIn(document), (text) => text)].filter(([, all]) => all.length > 1);
  expect(repeated.map(([text]) => text)).toEqual([]);
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
  expect(text.length).toBeLessThan(20_600);
});
