import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  bill,
  errorOf,
  type Harness,
  honest,
  honestX402,
  presentedIn,
  requirement,
  SIGNERS,
  startHarness,
  TRANSACTION,
  tokenFor,
  x402Bill,
} from '../../../../test/support/stand-ins/scripted-vendors.ts';
import { type Declined, type PayOptions, type Receipt, receiptOf } from '../main.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await harness.stop();
});

const watched = (options: Partial<PayOptions> = {}) => {
  const paid: Receipt[] = [];
  const declined: [string, { method: string; url: string }][] = [];
  const pay = harness.payer({
    onPaid: (receipt) => paid.push(receipt),
    onDeclined: (error: Declined, request) => declined.push([error.name, request]),
    ...options,
  });
  return { pay, paid, declined };
};

describe('onPaid', () => {
  test('gets the receipt of the answer, before the delivery and once', async () => {
    const seen: number[] = [];
    const vendor = await harness.vendor((visit, origin) => honest()(visit, origin));
    const { pay, paid } = watched({ onPaid: () => seen.push(vendor.visits.length) });
    const answer = await pay(`${vendor.origin}/a`);
    expect(seen).toEqual([1]);
    const again = watched();
    const other = await again.pay(`${vendor.origin}/a`);
    expect(again.paid).toEqual([receiptOf(other)]);
    expect(JSON.parse(JSON.stringify(receiptOf(answer)))).toMatchObject({
      amountMicro: '1000',
      transaction: 'h',
    });
    expect(paid).toEqual([]);
  });

  test('is called once for a payment that the vendor delivers at the second try', async () => {
    let failed = false;
    const vendor = await harness.vendor((visit, origin) => {
      const said = honest()(visit, origin);
      if (said === 'lost' || said.status === 402 || failed) return said;
      failed = true;
      return { status: 500 };
    });
    const { pay, paid } = watched();
    expect((await pay(`${vendor.origin}/a`)).status).toBe(500);
    expect((await pay(`${vendor.origin}/a`)).status).toBe(200);
    expect(paid).toHaveLength(1);
  });

  test('is called for a vendor of x402, also if it does not deliver and the chain shows the payment', async () => {
    const vendor = await harness.vendor(honestX402());
    const { pay, paid } = watched();
    const answer = await pay(vendor.origin);
    expect(paid).toEqual([receiptOf(answer)]);
    const unfair = await harness.vendor(() => x402Bill(requirement()));
    const body = { settlement_id: 's', status: 'confirmed', tx_hash: TRANSACTION };
    harness.script.report = () => ({ status: 200, body });
    for (const _ of [1, 2])
      expect(await errorOf(pay(unfair.origin))).toMatchObject({ name: 'NotDeliveredError' });
    expect(paid.slice(1)).toMatchObject([{ rail: 'x402_out', transaction: TRANSACTION, confirmed: true }]);
    expect(unfair.visits.filter(presentedIn)).toHaveLength(2);
  });

  test('is not called for free answers and for units of a prepaid settlement', async () => {
    const vendor = await harness.vendor((visit, origin) =>
      visit.path === '/free'
        ? { status: 200 }
        : honest({ scope: { resource: `${origin}${visit.path}`, units: 2 } })(visit, origin),
    );
    const { pay, paid } = watched();
    await pay(`${vendor.origin}/free`);
    await pay(`${vendor.origin}/pack`);
    const second = await pay(`${vendor.origin}/pack`);
    expect([paid.length, receiptOf(second)]).toEqual([1, null]);
  });
});

describe('onDeclined', () => {
  test.each<[string, string, () => Partial<PayOptions>]>([
    ['a price above the maximum', 'PriceAboveCapError', () => ({ maxAmount: 1n })],
    ['a denial by approve', 'NotAllowedError', () => ({ approve: () => false })],
    [
      'a limit of the API',
      'LimitExceededError',
      () => {
        harness.script.settle = () =>
          refusal(403, 'limit_exceeded', { money_moved: 'no', safe_action: 'raise_limit' });
        return {};
      },
    ],
  ])('gets %s, with the request', async (_, name, prepare) => {
    const vendor = await harness.vendor(honest());
    const { pay, paid, declined } = watched(prepare());
    const url = `${vendor.origin}/a`;
    expect(await errorOf(pay(url, { method: 'POST', paymentKey: 'once' }))).toMatchObject({ name });
    expect(declined).toEqual([[name, { method: 'POST', url }]]);
    expect(paid).toEqual([]);
  });

  test('gets a forged quote', async () => {
    const vendor = await harness.vendor((_, origin) => bill(tokenFor(`${origin}/a`, {}, SIGNERS.stranger)));
    const { pay, declined } = watched();
    expect(await errorOf(pay(`${vendor.origin}/a`))).toMatchObject({ name: 'BadTokenError' });
    expect(declined).toMatchObject([['BadTokenError', {}]]);
  });

  test('does not get a payment that waits for an approval, or whose outcome is open', async () => {
    const vendor = await harness.vendor(honest());
    const { pay, declined } = watched();
    const approval = { money_moved: 'no', safe_action: 'await_approval', approval_id: 'apr_1' };
    harness.script.settle = () => refusal(403, 'approval_required', approval);
    expect(await errorOf(pay(`${vendor.origin}/a`))).toMatchObject({ name: 'ApprovalRequiredError' });
    harness.script.settle = () => refusal(409, 'conflict', { money_moved: 'unknown' });
    expect(await errorOf(pay(`${vendor.origin}/b`))).toMatchObject({ name: 'ConflictError' });
    expect(declined).toEqual([]);
  });
});

test('errors of callbacks are printed and change no outcome', async () => {
  const print = jest.spyOn(console, 'error').mockImplementation(() => {});
  const vendor = await harness.vendor(honest());
  const onPaid = () => {
    throw new Error('sync');
  };
  const onDeclined = () => Promise.reject(new Error('async'));
  const pay = harness.payer({ onPaid, onDeclined });
  expect((await pay(`${vendor.origin}/a`)).status).toBe(200);
  const declined = errorOf(harness.payer({ maxAmount: 1n, onDeclined })(`${vendor.origin}/b`));
  expect(await declined).toMatchObject({ name: 'PriceAboveCapError' });
  await waitUntil(() => print.mock.calls.length === 2);
});
