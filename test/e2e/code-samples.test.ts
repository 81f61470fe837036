import { beforeAll, expect, test } from '@jest/globals';
import type { ZodString } from 'zod';
import { createConsumer, createDelegate, createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { QuoteId, ServiceId, SettlementId } from '../../shared/contract/primitives.ts';
import { readCurl } from '../support/rules/curl.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The samples of curl of one payment, as the reference shows them, against the running stack. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

type Sample = { label: string; source: string };
type Operation = { operationId: string; 'x-codeSamples'?: Sample[] };
let samples: Map<string, string>;
let env: Record<string, string>;
let serviceId: string;

beforeAll(async () => {
  const { body } = await api<{ paths: Record<string, Record<string, Operation>> }>('GET /openapi.json');
  samples = new Map(
    Object.values(body.paths)
      .flatMap((path) => Object.values(path))
      .map((each) => [
        each.operationId,
        each['x-codeSamples']?.find(({ label }) => label === 'curl')?.source ?? '',
      ]),
  );
  const [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  const delegate = await createDelegate(api, consumer, { total: '10000000' });
  env = { SERVICE_KEY: vendor.apiKey, DELEGATE_KEY: delegate.api_key, ACCESS_TOKEN: consumer.token };
  serviceId = vendor.serviceId;
});

/** Runs a sample. `known` has the values of a reader by the examples of the document. */
const run = async (id: string, known: Record<string, string>): Promise<Record<string, unknown>> => {
  const source = Object.entries(known).reduce(
    (text, [example, own]) => text.replaceAll(example, own),
    samples.get(id)!,
  );
  const [call] = await readCurl([source], env);
  const answer = await fetch(call!.url, { method: call!.method, headers: call!.headers, body: call!.body });
  const body = (await answer.json()) as Record<string, unknown>;
  expect([id, answer.status, body.error]).toEqual([id, expect.any(Number), undefined]);
  return body;
};

const exampleOf = (schema: ZodString): string => (schema.meta()!.examples as string[])[0]!;
const TOKEN = 'eyJ2IjoxfQ.c2lnbmF0dXJl';

test('the samples of quote, settle, redeem, verify and list make one payment', async () => {
  const quote = await run('quote.create', { [exampleOf(ServiceId)]: serviceId });
  expect(await run('quote.get', { [exampleOf(QuoteId)]: String(quote.quote_id) })).toMatchObject({
    status: 'pending',
  });
  const paid = await run('settlement.settle', { [TOKEN]: String(quote.quote_token) });
  const ids = { [exampleOf(SettlementId)]: String(paid.settlement_id) };
  const redeemed = await run('settlement.redeem', { ...ids, [TOKEN]: String(paid.settlement_token) });
  expect(redeemed).toMatchObject({ status: 'redeemed', replayed: false });
  expect(await run('settlement.verify', ids)).toMatchObject({ status: 'redeemed' });
  expect(await run('settlement.list', {})).toMatchObject({ data: [{ settlement_id: paid.settlement_id }] });
  expect(await run('settlement.getReceipt', ids)).toMatchObject({
    claims: { quote: { quote_id: quote.quote_id } },
  });
});
