import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { signAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import {
  type Gateway,
  type GatewayFixture,
  newDelegateKey,
  newServiceKey,
  newSigningKey,
  type Services,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/** Tests what an error reports about money, and which part of the system may report it. */

const session = newSigningKey('test.session.1');
let fixture: GatewayFixture;
let services: Services;
let gateway: Gateway;
beforeAll(async () => {
  fixture = await startGatewayFixture({ publicKeys: [session.entry], limits: { scale: 100 } });
  ({ services, gateway } = fixture);
});
afterAll(() => fixture.stop());

const send = async (
  method: string,
  path: string,
  { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: { error?: Record<string, unknown> } }> => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as { error?: Record<string, unknown> };
  if (answer.error === undefined) return { status: response.status, body: answer };
  // The call and the page about the code say nothing about money.
  const { request_id, docs_url, ...error } = answer.error;
  expect([typeof request_id, typeof docs_url]).toEqual(['string', 'string']);
  return { status: response.status, body: { error } };
};
const serviceKey = () => services.addKey(createKeyText('vendor_test_'), newServiceKey());
const delegateKey = () => services.addKey(createKeyText('dk_test_'), newDelegateKey());
const accessToken = () =>
  signAccessToken(
    {
      accountId: newId('acct'),
      sessionId: newId('ses'),
      environment: 'test',
      amr: ['email'],
      authTime: Math.floor(Date.now() / 1000),
      now: Date.now(),
    },
    session.signing,
  );

test('errors of money calls report whether money moved and which action is safe; other errors do not', async () => {
  const key = delegateKey();
  const body = { quote_token: 'a.b', payment_attempt_id: 'p1' };
  const settleError = async (answer: () => never, sent: unknown = body) => {
    services.answers['settlement.settle'] = answer;
    return (await send('POST', '/v1/settle', { key, body: sent })).body.error;
  };
  const fail = (error: Error) => () => {
    throw error;
  };
  // The report of the service is passed on, with the settlement that it names.
  const paid = {
    money_moved: 'yes',
    safe_action: 'read_settlement',
    settlement_id: newId('stl'),
  } as const;
  expect(await settleError(fail(new ServiceError('quote_expired', 'late', paid)))).toEqual({
    code: 'quote_expired',
    message: 'late',
    ...paid,
  });
  const unknown = { money_moved: 'unknown', safe_action: 'retry_same_attempt' } as const;
  expect(await settleError(fail(new ServiceError('conflict', 'x', unknown)))).toMatchObject(unknown);
  expect(await settleError(fail(new Error('the secret inside')))).toMatchObject({
    code: 'internal_error',
    ...unknown,
  });
  expect(await settleError(fail(new Error('not reached')), { ...body, x: 1 })).toMatchObject({
    code: 'validation_error',
    ...unknown,
    details: [{ path: 'x' }],
  });
  expect((await send('POST', '/v1/quote', { key: serviceKey(), body: {} })).body.error).not.toHaveProperty(
    'money_moved',
  );
});

test('a payment that stands in the way is named by every call, also by one that moves no money', async () => {
  const settlement_id = newId('stl');
  services.answers['settlement.denyApproval'] = () => {
    throw conflict('the payment was made already', { settlement_id });
  };
  const path = `/v1/approvals/${newId('apr')}/deny`;
  expect((await send('POST', path, { key: await accessToken() })).body.error).toEqual({
    code: 'conflict',
    message: 'the payment was made already',
    settlement_id,
  });
});

test.each<[what: string, body: unknown, moved: string]>([
  ['no field', {}, 'no'],
  ['no attempt', { quote_token: 'a.b' }, 'no'],
  ['an attempt that is no id', { quote_token: 'a.b', payment_attempt_id: 7 }, 'no'],
  ['no quote', { payment_attempt_id: 'p1' }, 'no'],
  ['a malformed quote', { quote_token: 'nonsense', payment_attempt_id: 'p1' }, 'no'],
  // An earlier call without the mistake may have paid.
  ['both, and a mistake', { quote_token: 'a.b', payment_attempt_id: 'p1', x: 1 }, 'unknown'],
  ['a body that cannot be read', '{"quote_token": "a.b", "payment_attempt_id": "p1"', 'unknown'],
])('a settle that names %s: money_moved is exact', async (_, body, moved) => {
  const { error } = (await send('POST', '/v1/settle', { key: delegateKey(), body })).body;
  const safe_action = moved === 'no' ? 'stop' : 'retry_same_attempt';
  expect(error).toMatchObject({ code: 'validation_error', money_moved: moved, safe_action });
});

test.each<[what: string, body: unknown, moved: string]>([
  ['no body', undefined, 'no'],
  ['no attempt', { quote_token: 'a.b' }, 'no'],
  ['a malformed quote', { quote_token: 'nonsense', payment_attempt_id: 'p1' }, 'no'],
  ['a payment', { quote_token: 'a.b', payment_attempt_id: 'p1' }, 'unknown'],
  [
    'a payment, twice',
    '{"quote_token": "a.b", "payment_attempt_id": 7, "payment_attempt_id": "p1"}',
    'unknown',
  ],
  ['a payment beyond what is read', { quote_token: 'a'.repeat(70_000), payment_attempt_id: 7 }, 'unknown'],
])(
  'a settle that is refused by its credential and names %s: money_moved is exact',
  async (_, body, moved) => {
    for (const [status, key] of [
      [401, undefined],
      [403, serviceKey()],
    ] as const) {
      const reply = await send('POST', '/v1/settle', { ...(key && { key }), body });
      expect(reply).toMatchObject({ status, body: { error: { money_moved: moved } } });
    }
  },
);

test('a call whose address names no payment has moved none, whoever makes it', async () => {
  const approve = (id: string) => send('POST', `/v1/withdrawals/${id}/approve`, { body: {} });
  expect((await approve('nonsense')).body.error).toMatchObject({ code: 'unauthorized', money_moved: 'no' });
  expect((await approve(newId('wd'))).body.error).toMatchObject({ money_moved: 'unknown' });
});

test('a refusal by the gateway never claims that no money moved by a call that may be a repeat', async () => {
  const unknown = { money_moved: 'unknown', safe_action: 'retry_same_attempt' };
  const body = { quote_token: 'a.b', payment_attempt_id: 'p1' };
  const refusals: [number, Parameters<typeof send>[2]][] = [
    [401, { body }],
    [403, { key: serviceKey(), body }],
    [400, { key: delegateKey(), body: '{' }],
    [413, { key: delegateKey(), body: { ...body, quote_token: 'a'.repeat(70_000) } }],
    [415, { key: delegateKey(), body: 'x', headers: { 'content-type': 'text/plain' } }],
  ];
  for (const [status, sent] of refusals) {
    const reply = await send('POST', '/v1/settle', sent);
    expect([status, reply.status, reply.body.error]).toMatchObject([status, status, unknown]);
  }
  // Approving submits a payment. Creating only prepares one, and the error reports that no money
  // moved.
  const jwt = await accessToken();
  const approve = await send('POST', `/v1/withdrawals/${newId('wd')}/approve`, { key: jwt, body: { x: 1 } });
  expect(approve.body.error).toMatchObject({ code: 'validation_error', ...unknown });
  const create = await send('POST', '/v1/withdrawals', { key: jwt, body: { x: 1 } });
  expect(create.body.error).toMatchObject({
    code: 'validation_error',
    money_moved: 'no',
    safe_action: 'stop',
  });
});
