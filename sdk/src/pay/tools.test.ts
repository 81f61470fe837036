import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../../test/support/base/keys.ts';
import {
  charge,
  type Harness,
  requirement,
  startHarness,
  TRANSACTION,
  tokenFor,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { NotAllowedError, PaymentOpenError } from './main.ts';
import { payingTools, type ToolCall, type ToolResult } from './tools.ts';

const SERVER = 'https://tools.example.com/mcp';
/** Where a server with our SDK sells the tool. */
const RESOURCE = 'https://tools.example.com/mcp/tools/report';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const signs = () => harness.api.asked.filter(({ call }) => call === 'POST /v1/payments');
/** A server of MCP that answers by a script, with the calls that it got. */
const toolsOf = (answer: (call: ToolCall) => ToolResult, options: object = {}) => {
  const calls: ToolCall[] = [];
  const call = payingTools<ToolResult>(
    async (asked) => {
      calls.push(asked);
      return answer(asked);
    },
    {
      baseUrl: harness.api.baseUrl,
      delegateKey: DELEGATE_KEY,
      maxAmount: 5000n,
      serverUrl: SERVER,
      ...options,
    },
  );
  return { calls, call };
};
const REPORT = { content: [{ type: 'text', text: 'All is well.' }] };
const x402Unpaid = (accepts: object[]): ToolResult => {
  const required = { x402Version: 2, resource: { url: 'mcp://tool/report' }, accepts };
  return {
    isError: true,
    structuredContent: required,
    content: [{ type: 'text', text: JSON.stringify(required) }],
  };
};
const ownUnpaid = (claims: object = {}): ToolResult => ({
  isError: true,
  content: [],
  _meta: {
    'quittance/payment-required': { error: 'payment_required', quote_token: tokenFor(RESOURCE, claims) },
  },
});
const paymentIn = ({ _meta }: ToolCall) => _meta?.['x402/payment'] ?? _meta?.['quittance/settlement'];

beforeEach(() => {
  // What the API signs is a header in base64.
  harness.script.sign = ({ body }) => ({
    status: 200,
    body: {
      ...{ settlement_id: 'stl_1', status: 'pending', tx_hash: null, transaction: 'AA==' },
      payment_signature: Buffer.from(JSON.stringify({ paid: body!.payment_attempt_id })).toString('base64'),
    },
  });
});

test('a free tool is called once, with its arguments and its own _meta', async () => {
  const { call, calls } = toolsOf(() => REPORT);
  const asked = { name: 'report', arguments: { city: 'Ulm', day: null }, _meta: { progressToken: 7 } };
  expect(await call(asked)).toEqual({ result: REPORT, receipt: null, isUnpaid: false });
  expect(calls).toEqual([asked]);
  expect(harness.api.asked).toEqual([]);
});

test.each([
  ['as data', (unpaid: ToolResult) => unpaid],
  ['as text only', ({ isError, content }: ToolResult) => ({ isError, content })],
])('a tool of x402, whose price is there %s, is paid once and returns its receipt', async (_name, form) => {
  const paid = {
    ...REPORT,
    _meta: { 'x402/payment-response': { success: true, transaction: TRANSACTION, network: 'solana' } },
  };
  const { call, calls } = toolsOf((asked) => (paymentIn(asked) ? paid : form(x402Unpaid([requirement()]))));
  const { result, receipt } = await call({ name: 'report', arguments: { city: 'Ulm' } });
  expect(result).toEqual(paid);
  expect(receipt).toMatchObject({ rail: 'x402_out', amountMicro: '1000', transaction: TRANSACTION });
  expect(signs().map(({ body }) => body)).toEqual([
    expect.objectContaining({ resource: RESOURCE, requirement: requirement() }),
  ]);
  expect(calls.map(paymentIn)).toEqual([undefined, { paid: signs()[0]!.body!.payment_attempt_id }]);
});

test('a tool of ours is paid by its quote', async () => {
  const { call, calls } = toolsOf((asked) => (paymentIn(asked) ? REPORT : ownUnpaid()));
  const { result, receipt } = await call({ name: 'report' });
  expect(result).toEqual(REPORT);
  expect(receipt).toMatchObject({ rail: 'quittance', amountMicro: '1000' });
  const { settlement_id } = harness.paid()[0]!;
  expect(paymentIn(calls[1]!)).toEqual({ settlement_id, settlement_token: 'settlement.token' });
});

test('a quote for another tool is not paid', async () => {
  const { call } = toolsOf(() => ownUnpaid({ scope: { resource: RESOURCE.replace('report', 'other') } }));
  await expect(call({ name: 'report' })).rejects.toMatchObject({ name: 'ResourceMismatchError' });
  expect(harness.paid()).toEqual([]);
});

test('a tool of MPP, which asks by an error, is paid with its own challenge', async () => {
  const challenge = { id: 'c1', realm: 'tools', method: 'solana', intent: 'charge', request: charge() };
  harness.script.sign = ({ body }) => {
    const { request, ...parameters } = body!.challenge as { request: string };
    const decoded = JSON.parse(Buffer.from(request, 'base64url').toString());
    expect({ ...parameters, request: decoded }).toEqual(challenge);
    const credential = { challenge: body!.challenge, payload: { type: 'transaction', transaction: 'AA==' } };
    const payment_signature = `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
    return { status: 200, body: { settlement_id: 's', status: 'pending', payment_signature, tx_hash: null } };
  };
  const credentials: unknown[] = [];
  const { call } = toolsOf((asked) => {
    const credential = asked._meta?.['org.paymentauth/credential'];
    if (credential === undefined)
      throw Object.assign(new Error('payment required'), { code: -32042, data: { challenges: [challenge] } });
    credentials.push(credential);
    return { ...REPORT, _meta: { 'org.paymentauth/receipt': { status: 'success', reference: TRANSACTION } } };
  });
  expect((await call({ name: 'report' })).receipt).toMatchObject({
    rail: 'mpp_out',
    transaction: TRANSACTION,
  });
  expect(credentials).toEqual([{ challenge, payload: { type: 'transaction', transaction: 'AA==' } }]);
});

test('a server that asks again after the payment gets the same bytes, and nothing new', async () => {
  const { call, calls } = toolsOf(() => x402Unpaid([requirement()]));
  for (let times = 0; times < 3; times += 1)
    await expect(call({ name: 'report' }, { paymentKey: 'k' })).rejects.toBeInstanceOf(PaymentOpenError);
  expect(new Set(signs().map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  expect(new Set(calls.map(paymentIn).map((each) => JSON.stringify(each))).size).toBe(2);
});

test('a failure of the tool after its payment is returned, and the next call presents the same payment', async () => {
  let failures = 1;
  const { call } = toolsOf((asked) => {
    if (!paymentIn(asked)) return ownUnpaid();
    failures -= 1;
    return failures >= 0 ? { isError: true, content: [] } : REPORT;
  });
  expect((await call({ name: 'report' })).result).toEqual({ isError: true, content: [] });
  expect((await call({ name: 'report' })).result).toEqual(REPORT);
  expect(harness.paid()).toHaveLength(1);
});

test('a price that this client does not pay is returned as it is; an error too', async () => {
  const unpaid = x402Unpaid([requirement({ network: 'eip155:8453' })]);
  expect(await toolsOf(() => unpaid).call({ name: 'report' })).toEqual({
    result: unpaid,
    receipt: null,
    isUnpaid: true,
  });
  const error = Object.assign(new Error('url'), { code: -32042, data: { elicitations: [] } });
  const { call } = toolsOf(() => {
    throw error;
  });
  await expect(call({ name: 'report' })).rejects.toBe(error);
});

test('the price is shown before, and a refusal pays nothing', async () => {
  const { call } = toolsOf(() => x402Unpaid([requirement()]));
  const prices: unknown[] = [];
  const approve = (price: { quote_amount: string }, { url }: { url: string }) => {
    prices.push([price.quote_amount, url]);
    return false;
  };
  await expect(call({ name: 'report' }, { approve })).rejects.toBeInstanceOf(NotAllowedError);
  expect(prices).toEqual([['1000', RESOURCE]]);
  expect(signs()).toEqual([]);
});
