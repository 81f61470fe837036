import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Json } from '../shared/contract/examples.ts';
import { contractList } from '../shared/contract/index.ts';
import { llmsText } from '../shared/contract/llms.ts';
import { openApiDocument, operationId } from '../shared/contract/openapi.ts';

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

test('the page for language models names every endpoint, and is short', () => {
  const text = llmsText({ serverUrl: 'https://api.example' });
  for (const [, { http }] of operations) expect(text).toContain(`\`${http.method} ${http.path}\``);
  expect(text).toContain('safe_action');
  expect(text.length).toBeLessThan(17_000);
});
