import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText, keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  type GatewayFixture,
  newServiceKey,
  type Services,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';
import {
  NETWORK,
  newTransaction,
  x402Request,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';

/**
 * x402 at the gateway: repeats while the outcome is open, hand-outs, and errors of the protocol.
 */
let fixture: GatewayFixture;
let services: Services;
let gateway: Gateway;
let key: string;
beforeAll(async () => {
  fixture = await startGatewayFixture({ publicKeys: [], limits: { scale: 100 }, environments: ['test'] });
  ({ services, gateway } = fixture);
  key = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  services.answers['settlement.recordHandOut'] = () => ({ redeemed: true });
});
afterAll(() => fixture.stop());
beforeEach(() => {
  services.calls.length = 0;
});

const send = async (path: 'verify' | 'settle', body: unknown = x402Request(newTransaction()), by = key) => {
  const response = await fetch(`${gateway.url}/v1/x402/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')!.startsWith('application/json');
  return { status: response.status, body: isJson ? JSON.parse(text) : null, text };
};
const callsOf = (operation: string) => services.calls.filter((call) => call.operation === operation);
/** The confirmation of a hand-out, which follows the answer. */
const handOut = async () =>
  (
    await waitFor(
      () => callsOf('settlement.recordHandOut'),
      (calls) => calls.length > 0,
    )
  )[0];
const quittance = { settlement_id: newId('stl'), hand_out_id: 'hand-out-1' };
const success = { success: true, transaction: '5'.repeat(80), network: NETWORK, extra: { quittance } };
const pending = { success: false, transaction: '', network: NETWORK, errorReason: 'settlement_pending' };
const unknown = () =>
  new ServiceError('service_unavailable', 'temporarily unavailable', { money_moved: 'unknown' });

test('a success is confirmed as handed out after its answer was sent', async () => {
  services.answers['settlement.x402Settle'] = () => success;
  expect(await send('settle')).toMatchObject({ status: 200, body: success });
  expect((await handOut())!.input).toEqual(quittance);
});

test('a pending or unknown outcome is asked again, and the vendor hears the end of it', async () => {
  const answers: (() => object)[] = [
    () => pending,
    () => {
      throw unknown();
    },
    () => success,
  ];
  services.answers['settlement.x402Settle'] = () => answers.shift()!();
  expect(await send('settle')).toMatchObject({ status: 200, body: { success: true } });
  expect(callsOf('settlement.x402Settle')).toHaveLength(3);
  await handOut();
});

/** Ends a call that is repeated for longer than the credential is cached. */
const orTooLate = (begin: number, answer: object) => {
  if (performance.now() - begin > 10_000) throw new Error('the credential was not read again');
  return answer;
};

test('a repeat has the credential as it is then: an account that is frozen meanwhile is frozen', async () => {
  const text = createKeyText('vendor_test_');
  const principal = newServiceKey();
  services.addKey(text, principal);
  const begin = performance.now();
  services.answers['settlement.x402Settle'] = (_input, caller) => {
    services.addKey(text, { ...principal, frozen: true });
    const isFrozen = caller?.kind === 'service_key' && caller.frozen === true;
    return isFrozen ? success : orTooLate(begin, pending);
  };
  expect(await send('settle', undefined, text)).toMatchObject({ status: 200, body: success });
  expect(callsOf('settlement.x402Settle').length).toBeGreaterThan(1);
});

test('a call is not repeated with a key that is revoked meanwhile, and its answer stays open', async () => {
  const text = createKeyText('vendor_test_');
  services.addKey(text, newServiceKey());
  const begin = performance.now();
  services.answers['settlement.x402Settle'] = () => {
    services.keys.delete(keyHash(text));
    return orTooLate(begin, pending);
  };
  expect(await send('settle', undefined, text)).toMatchObject({
    status: 200,
    body: { success: false, errorReason: 'settlement_pending' },
  });
});

test('an error without a decision is answered at once without JSON, because an earlier call may have paid', async () => {
  services.answers['settlement.x402Settle'] = () => {
    throw new ServiceError('service_unavailable', 'the chain is unavailable', { money_moved: 'no' });
  };
  expect(await send('settle')).toMatchObject({ status: 202, body: null });
  expect(callsOf('settlement.x402Settle')).toHaveLength(1);
  expect(callsOf('settlement.recordHandOut')).toHaveLength(0);
});

test('bad requests are refused with the fields of x402 and ours', async () => {
  const invalid = { error: { code: 'validation_error' } };
  expect(await send('settle', { paymentPayload: {} })).toMatchObject({
    status: 400,
    body: { success: false, errorReason: 'invalid_payload', ...invalid },
  });
  expect(await send('verify', { paymentPayload: 5 })).toMatchObject({
    status: 400,
    body: { isValid: false, invalidReason: 'invalid_payload', ...invalid },
  });
  const large = x402Request('A'.repeat(70_000));
  expect(await send('settle', large)).toMatchObject({
    status: 413,
    body: { success: false, errorReason: 'invalid_payload', error: { code: 'payload_too_large' } },
  });
  expect(await send('verify', undefined, 'vendor_test_nobody')).toMatchObject({
    status: 401,
    body: { isValid: false, invalidReason: 'unexpected_verify_error', error: { code: 'unauthorized' } },
  });
  expect(services.calls).toEqual([]);
});

test('fields that are not of the protocol are dropped, also deep in the payload', async () => {
  services.answers['settlement.x402Verify'] = () => ({ isValid: true, payer: 'somebody' });
  const request = x402Request(newTransaction());
  const more = { ...request, other: 1, paymentPayload: { ...request.paymentPayload, other: { deep: true } } };
  expect(await send('verify', more)).toMatchObject({ status: 200, body: { isValid: true } });
  expect(callsOf('settlement.x402Verify')[0]!.input).toEqual(request);
});
