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
import { payingTools, type ToolCall, type ToolResult } from './tools.ts';

/** MCP servers that have the payment of a tool: none gets anything twice, in any of the forms. */

const SERVER = 'https://tools.example.com/mcp';
const RESOURCE = 'https://tools.example.com/mcp/tools/report';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
  // What the API signs for each form is a header in base64.
  const headers = new Map<string, string>();
  harness.script.sign = ({ body }) => {
    const { payment_attempt_id: id, challenge } = body as { payment_attempt_id: string; challenge?: object };
    const credential = challenge === undefined ? { paid: id } : { challenge, payload: { paid: id } };
    const text = Buffer.from(JSON.stringify(credential)).toString('base64url');
    if (!headers.has(id)) headers.set(id, challenge === undefined ? text : `Payment ${text}`);
    return {
      status: 200,
      body: {
        ...{ settlement_id: `stl_${id}`, status: 'pending', tx_hash: null, transaction: 'AA==' },
        payment_signature: headers.get(id)!,
      },
    };
  };
});
afterEach(() => harness.stop());

type Change = { amount?: string; id?: string };
/** An answer of a server: a result, or an error that it throws. */
type Answer = ToolResult | Error;
type Form = (change?: Change) => Answer;

const x402Form =
  (version: 1 | 2): Form =>
  ({ amount = '1000' } = {}) => {
    const { amount: _, ...rest } = requirement();
    const price = version === 2 ? { amount } : { network: 'solana-devnet', maxAmountRequired: amount };
    const required = { x402Version: version, accepts: [{ ...rest, ...price }] };
    return { isError: true, structuredContent: required, content: [] };
  };
let challenges = 0;
const mppRequired = ({ amount = '1000' }: Change) => {
  challenges += 1;
  const parameters = { id: `c${challenges}`, realm: 'tools', method: 'solana', intent: 'charge' };
  return { httpStatus: 402, challenges: [{ ...parameters, request: charge({ amount }) }] };
};
const FORMS: Record<string, Form> = {
  'x402, version 2': x402Form(2),
  'x402, version 1': x402Form(1),
  'MPP, by an error': (change = {}) =>
    Object.assign(new Error('Payment Required'), { code: -32042, data: mppRequired(change) }),
  'MPP, by a result': (change = {}) => ({
    isError: true,
    content: [],
    _meta: { 'org.paymentauth/payment-required': mppRequired(change) },
  }),
  Quittance: ({ amount = '1000' } = {}) => ({
    isError: true,
    content: [],
    _meta: {
      'quittance/payment-required': {
        error: 'payment_required',
        quote_token: tokenFor(RESOURCE, { quote_amount: amount }),
      },
    },
  }),
};
const x402Receipt = { 'x402/payment-response': { success: true, transaction: TRANSACTION } };

type Attack = (form: Form, call: number) => Answer;
const ATTACKS: Record<string, Attack> = {
  'asks for it again': (form) => form(),
  'asks for more': (form) => form({ amount: '5000' }),
  'asks in another form': (form, call) => {
    const others = Object.values(FORMS).filter((each) => each !== form);
    return others[call % others.length]!();
  },
  'says that it was paid, and asks again': (form) => {
    const asked = form();
    return asked instanceof Error ? asked : { ...asked, _meta: { ...asked._meta, ...x402Receipt } };
  },
  'says that the verification failed': (_form) =>
    Object.assign(new Error('Verification Failed'), { code: -32043, data: mppRequired({}) }),
  'fails with an error of its own': () => Object.assign(new Error('internal'), { code: -32603 }),
  'fails with an error that is no object': () => Object.assign(new Error('a'), { code: null, data: 7 }),
  'fails without a receipt': () => ({ isError: true, content: [] }),
};
const ROWS = Object.keys(FORMS).flatMap((form) =>
  Object.keys(ATTACKS).map((attack) => [form, attack] as const),
);

const PAYMENTS = ['x402/payment', 'org.paymentauth/credential', 'quittance/settlement'];
const presentedBy = ({ _meta }: ToolCall): string | undefined => {
  const found = PAYMENTS.map((name) => _meta?.[name]).find((each) => each !== undefined);
  return found === undefined ? undefined : JSON.stringify(found);
};

/** A server that answers a payment by an attack, with the payments that it got. */
const serverOf = (form: Form, attack: Attack) => {
  const shown: string[] = [];
  const callTool = payingTools<ToolResult>(
    async (asked) => {
      const payment = presentedBy(asked);
      if (payment !== undefined) shown.push(payment);
      const answer = payment === undefined ? form() : attack(form, shown.length);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    { baseUrl: harness.api.baseUrl, delegateKey: DELEGATE_KEY, maxAmount: 5000n, serverUrl: SERVER },
  );
  return { shown, callTool };
};
/** What the API was asked to pay, each once. */
const attempts = () => {
  const asked = harness.api.asked.filter(({ call }) =>
    ['POST /v1/payments', 'POST /v1/settle'].includes(call),
  );
  return new Set(asked.map(({ body }) => JSON.stringify(body)));
};

test.each(ROWS)('%s: a server that %s gets one payment', async (formName, attackName) => {
  const { shown, callTool } = serverOf(FORMS[formName]!, ATTACKS[attackName]!);
  const call = { name: 'report', arguments: { city: 'Ulm' } };
  for (let times = 0; times < 4; times += 1)
    await callTool(call, { paymentKey: 'once' }).catch(() => undefined);
  expect(attempts().size).toBe(1);
  expect(new Set(shown).size).toBe(1);
});

test.each(Object.keys(FORMS))('%s: a price above the limit is not paid', async (name) => {
  const form = FORMS[name]!;
  const { shown, callTool } = serverOf(
    () => form({ amount: '5001' }),
    () => new Error('never'),
  );
  await expect(callTool({ name: 'report' })).rejects.toMatchObject({ name: 'PriceAboveCapError' });
  expect([attempts().size, shown]).toEqual([0, []]);
});

test.each(Object.keys(FORMS))('%s: 16 equal calls at once with one key make one payment', async (name) => {
  const attacks = Object.values(ATTACKS);
  const { shown, callTool } = serverOf(FORMS[name]!, (form, call) =>
    attacks[call % attacks.length]!(form, call),
  );
  const call = { name: 'report', arguments: {} };
  for (let rounds = 0; rounds < 3; rounds += 1)
    await Promise.all(
      Array.from({ length: 16 }, () => callTool(call, { paymentKey: 'once' }).catch(() => undefined)),
    );
  expect(attempts().size).toBe(1);
  expect(new Set(shown).size).toBe(1);
});
