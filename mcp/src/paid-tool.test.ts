import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { x402 } from '../../sdk/src/paywall/dialects/x402.ts';
import { askedOf, wireTransaction } from '../../test/support/actors/incoming-buyers.ts';
import { refusal } from '../../test/support/stand-ins/scripted-server.ts';
import { PUBLIC_URL, startVendorApi, type VendorApi } from '../../test/support/stand-ins/vendor-api.ts';
import { paidTool } from './main.ts';

let api: VendorApi;
let client: Client;
let server: McpServer;
let runs: string[];
let answer: (city: string) => CallToolResult;

beforeEach(async () => {
  api = await startVendorApi();
  runs = [];
  answer = (city) => ({ content: [{ type: 'text', text: `All is well in ${city}.` }] });
  const paywall = api.paywall({ dialects: [x402({ secret: 'a secret of the vendor, 32 or more' })] });
  server = new McpServer({ name: 'vendor', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = z.object({ city: z.string(), days: z.int().optional() });
  const price = ({ days = 1 }: { days?: number | undefined }) => String(50_000 * days);
  const report = paidTool(paywall, { name: 'report', price }, ({ city }: z.infer<typeof inputSchema>) => {
    runs.push(city);
    return answer(city);
  });
  server.registerTool('report', { inputSchema }, report);
  client = new Client({ name: 'buyer', version: '1' });
  const [own, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(own)]);
});
afterEach(async () => {
  await client.close();
  await server.close();
  await api.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: results are checked field by field
type Result = any;
const call = async (args: Record<string, unknown>, _meta: Record<string, unknown> = {}): Promise<Result> =>
  client.callTool({ name: 'report', arguments: args, _meta });
const ULM = { city: 'Ulm' };

/** A payment of x402 for what an unpaid result asks. */
const x402Payment = (required: Result, transaction = wireTransaction(askedOf(required.accepts[0]))) => ({
  'x402/payment': {
    x402Version: 2,
    resource: required.resource,
    accepted: required.accepts[0],
    payload: { transaction },
  },
});

test('an unpaid call gets the price in both forms, and does not run', async () => {
  const result = await call(ULM);
  expect(result.isError).toBe(true);
  expect(result.structuredContent).toMatchObject({
    x402Version: 2,
    resource: { url: 'mcp://tool/report' },
    accepts: [{ scheme: 'exact', amount: '50000' }],
  });
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  expect(result._meta['quittance/payment-required']).toMatchObject({
    error: 'payment_required',
    quote_token: expect.any(String),
    quote_amount: '50000',
  });
  expect((await call({ ...ULM, days: 3 })).structuredContent.accepts[0].amount).toBe('150000');
  expect(runs).toEqual([]);
});

test('a payment of x402 runs it once, and the receipt is in _meta', async () => {
  const payment = x402Payment((await call(ULM)).structuredContent);
  const paid = await call(ULM, payment);
  expect(paid.isError).toBeUndefined();
  expect(paid.content).toEqual([{ type: 'text', text: 'All is well in Ulm.' }]);
  expect(paid._meta['x402/payment-response']).toMatchObject({
    success: true,
    transaction: 'the transaction',
  });
  // The same call gets the stored result, and another call must pay.
  expect(await call(ULM, payment)).toEqual(paid);
  const other = await call({ city: 'Trier' }, payment);
  expect(other).toMatchObject({ isError: true, structuredContent: { error: 'duplicate_settlement' } });
  expect(runs).toEqual(['Ulm']);
});

test('a settlement of ours runs it once', async () => {
  const shown = api.pay({ resource: `${PUBLIC_URL}/mcp/tools/report` });
  const settlement = {
    settlement_id: shown['x-settlement-id'],
    settlement_token: shown['x-settlement-token'],
  };
  const _meta = { 'quittance/settlement': settlement };
  const paid = await call(ULM, _meta);
  expect(paid.content[0].text).toBe('All is well in Ulm.');
  expect(paid._meta['quittance/receipt']).toEqual({ settlement_id: settlement.settlement_id });
  expect(await call(ULM, _meta)).toEqual(paid);
  expect((await call({ city: 'Trier' }, _meta)).isError).toBe(true);
  expect(runs).toEqual(['Ulm']);
});

test('a payment that is refused gets the unpaid form without a result', async () => {
  const unpaid = (await call(ULM)).structuredContent;
  api.faults.push(({ call: path }) =>
    path === 'POST /v1/settlements/foreign'
      ? refusal(402, 'insufficient_funds', { money_moved: 'no' })
      : null,
  );
  const result = await call(ULM, x402Payment(unpaid));
  expect(result).toMatchObject({ isError: true, structuredContent: { error: 'insufficient_funds' } });
  expect(JSON.stringify(result)).not.toContain('All is well');
  expect(runs).toEqual([]);
});

test.each<[string, Record<string, unknown>]>([
  ['text', { 'x402/payment': 'text' }],
  ['an object without a payload', { 'x402/payment': { x402Version: 2 } }],
  [
    'a forged offer',
    { 'x402/payment': { x402Version: 2, accepted: { extra: { offer: 'a.b' } }, payload: {} } },
  ],
  [
    'a settlement with a line break',
    { 'quittance/settlement': { settlement_id: 'a\nb', settlement_token: 'c' } },
  ],
  ['a settlement that is none', { 'quittance/settlement': [] }],
])('%s in _meta buys nothing', async (_name, meta) => {
  expect((await call(ULM, meta)).isError).toBe(true);
  expect(runs).toEqual([]);
});

test('an offer for one price does not buy a dearer call', async () => {
  const payment = x402Payment((await call(ULM)).structuredContent);
  expect((await call({ ...ULM, days: 3 }, payment)).isError).toBe(true);
  expect(runs).toEqual([]);
});

test('a handler that fails runs again for the same payment', async () => {
  const payment = x402Payment((await call(ULM)).structuredContent);
  answer = () => ({ isError: true, content: [{ type: 'text', text: 'no weather' }] });
  expect(await call(ULM, payment)).toMatchObject({ isError: true, content: [{ text: 'no weather' }] });
  answer = () => {
    throw new Error('broken');
  };
  expect((await call(ULM, payment)).isError).toBe(true);
  answer = () => ({ content: [{ type: 'text', text: 'sunny' }] });
  expect(await call(ULM, payment)).toMatchObject({ content: [{ text: 'sunny' }] });
  expect(runs).toHaveLength(3);
});
