import { beforeAll, expect, test } from '@jest/globals';
import { createConsumer, createDelegate, createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import type { Json } from '../../shared/contract/examples.ts';
import { contractList } from '../../shared/contract/index.ts';
import { operationId } from '../../shared/contract/openapi.ts';
import type { CredentialKind } from '../../shared/contract/principal.ts';
import { resolved } from '../support/base/openapi-references.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Sends the examples of the served API document unchanged. Their ids do not exist, so most answers
 * are 404. Each must be understood, and its answer must be in the document and have the contract's
 * shape.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

/**
 * Examples that are refused because no document can contain a valid value: a token, proof or
 * attestation of a real caller, a wallet of the caller, or the currency of this network.
 */
const NEEDS_THE_REAL_ONE = [
  'settlement.settle',
  'settlement.redeem',
  'settlement.consume',
  'settlement.usage',
  'settlement.payLink',
  'settlement.acceptForeign',
  'settlement.x402Verify',
  'settlement.x402Settle',
  'settlement.payExternal',
  'wallet.link',
  'wallet.provision',
  'identity.passkeyRegisterVerify',
  'identity.updateSettings',
];

type Operation = {
  parameters?: { name: string; in: string; required: boolean; example: string }[];
  requestBody?: { content: { 'application/json': { example?: unknown } } };
  responses: Record<string, unknown>;
};
let paths: Record<string, Record<string, Operation>>;
let credentials: Record<CredentialKind, string>;

beforeAll(async () => {
  paths = resolved((await api<Json>('GET /openapi.json')).body).paths as typeof paths;
  const [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  const delegate = await createDelegate(api, consumer, { total: '1' });
  credentials = { jwt: consumer.token, service_key: vendor.apiKey, delegate_key: delegate.api_key };
});

/** They end the credential of the others, so they are the last. */
const ENDING = ['identity.closeAccount', 'identity.logout'];
const operations = contractList
  .flatMap(({ name: service, operations: own }) =>
    Object.entries(own).map(([name, op]) => [operationId(service, name), op] as const),
  )
  // A body that its sender signed has no example.
  .filter(([, { rawBody }]) => rawBody !== true)
  .sort(([a], [b]) => ENDING.indexOf(a) - ENDING.indexOf(b));

test.each(operations)('%s: its example is understood', async (id, op) => {
  const { method, path } = op.http;
  const template = path.replace(/:(\w+)/g, '{$1}');
  const { parameters = [], requestBody, responses } = paths[template]![method.toLowerCase()]!;
  const url = parameters
    .filter((each) => each.in === 'path')
    .reduce((so, { name, example }) => so.replace(`{${name}}`, example), template);
  const query = parameters.filter((each) => each.in === 'query' && each.required === true);
  const search = new URLSearchParams(query.map(({ name, example }): [string, string] => [name, example]));
  const body = requestBody?.content['application/json'].example;
  const [kind] = op.access;
  const answer = await api<Json & { error?: { code: string } }>(
    `${method} ${`${url}?${search}` as `/${string}`}`,
    {
      ...(kind === undefined ? {} : { token: credentials[kind] }),
      ...(body === undefined ? {} : { body }),
    },
  );
  expect(Object.keys(responses)).toContain(String(answer.status));
  expect(answer.status).toBeLessThan(500);
  if (!NEEDS_THE_REAL_ONE.includes(id)) expect(answer.body?.error?.code).not.toBe('validation_error');
  if (answer.status < 300) expect(op.output.safeParse(answer.body ?? null).error?.issues).toBeUndefined();
});
