import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import ts from 'typescript';
import { type CurlCall, readCurl } from '../../test/support/rules/curl.ts';
import type { Json } from './examples.ts';
import { contractList } from './index.ts';
import { openApiDocument, operationId } from './openapi.ts';

/** The samples that the reference shows: a shell reads them, the SDK has their types. */
const SERVER = 'https://api.example';
const paths = openApiDocument({ serverUrl: SERVER }).paths as Record<string, Record<string, Json>>;
type Sample = { label: string; source: string };
const samplesOf = (method: string, template: string): Sample[] =>
  paths[template.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!['x-codeSamples'] as Sample[];
const operations = contractList.flatMap(({ name: service, operations: own }) =>
  Object.entries(own)
    // A body that its sender signed has no sample.
    .filter(([, { rawBody }]) => rawBody !== true)
    .map(([name, op]) => [operationId(service, name), op] as const),
);
const sourceOf = (label: string, [, { http }]: (typeof operations)[number]): string => {
  const sample = samplesOf(http.method, http.path).find((each) => each.label === label);
  if (sample === undefined) throw new Error(`${http.method} ${http.path} has no sample ${label}`);
  return sample.source;
};

let calls: Map<string, CurlCall>;
beforeAll(async () => {
  const keys = { SERVICE_KEY: 'service_key', DELEGATE_KEY: 'delegate_key', ACCESS_TOKEN: 'jwt' };
  const read = await readCurl(
    operations.map((each) => sourceOf('curl', each)),
    keys,
  );
  calls = new Map(operations.map(([id], at) => [id, read[at]!]));
});

test.each(operations)('%s: its call of curl is valid by the contract', (id, op) => {
  const { method, url, headers, body } = calls.get(id)!;
  expect(method).toBe(op.http.method);
  const names = op.http.path.match(/:\w+/g) ?? [];
  const pattern = new RegExp(`^${SERVER}${op.http.path.replace(/:\w+/g, '([^/?]+)')}(?:[?].*)?$`);
  const [, ...values] = pattern.exec(url)!;
  const params = Object.fromEntries(names.map((name, at) => [name.slice(1), values[at]]));
  expect(op.params.safeParse(params).error?.issues).toBeUndefined();
  const query = Object.fromEntries(new URL(url).searchParams);
  expect(op.query.safeParse(query).error?.issues).toBeUndefined();
  expect(op.body.safeParse(JSON.parse(body ?? '{}')).error?.issues).toBeUndefined();
  expect(headers['content-type']).toBe(method === 'GET' ? undefined : 'application/json');
  const kind = headers.authorization?.replace(/^Bearer /, '');
  if (op.access.length === 0) expect(kind).toBeUndefined();
  else expect(op.access).toContain(kind);
});

/** The complaints of the compiler about texts of TypeScript, each a module of its own. */
const complaints = (sources: Map<string, string>): string[] => {
  const root = path.resolve(import.meta.dirname, '../..');
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, root);
  const files = new Map([...sources].map(([name, source]) => [path.join(root, `sample.${name}.ts`), source]));
  const host = ts.createCompilerHost({ ...options, noEmit: true, incremental: false });
  const readFile = host.readFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  const program = ts.createProgram({
    rootNames: [...files.keys()],
    options: { ...options, noEmit: true, incremental: false },
    host,
  });
  return [...files.keys()].flatMap((name) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(name))
      .map(
        ({ messageText }) => `${path.basename(name)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      ),
  );
};

test('the SDK accepts every sample of TypeScript', () => {
  const sources = new Map(operations.map((each) => [each[0], sourceOf('TypeScript', each)]));
  expect(complaints(sources)).toEqual([]);
  const wrong = sourceOf('TypeScript', operations.find(([id]) => id === 'quote.create')!);
  expect(complaints(new Map([['wrong', wrong.replace('quote_amount', 'amount')]]))).toHaveLength(1);
});

test('a sample of Python has the words of Python', () => {
  const [, , python] = samplesOf('POST', '/v1/services');
  expect(python!.source).toContain('"allow_off_curve": False');
  expect(python!.source).toContain(`f"Bearer {os.environ['ACCESS_TOKEN']}"`);
});
