import { expect, test } from '@jest/globals';
import { jwtVerify } from 'jose';
import { paymentHeaders } from './payment-headers.ts';

const SECRET = 'a secret of thirty-two characters!!';
const PAYMENT = { paymentId: 'stl_1', deliveryId: 'd-1', amount: '50000', payer: null, requestId: null };
const CALL = { method: 'GET', target: '/report?city=Ulm' };

test('without a secret the facts are not signed, and the payer is named if it is known', () => {
  const headers = paymentHeaders({ ...PAYMENT, payer: 'an address' }, CALL, null, 0);
  expect(headers).toEqual([
    ...['Quittance-Settlement', 'stl_1', 'Quittance-Delivery', 'd-1'],
    ...['Quittance-Amount', '50000', 'Quittance-Payer', 'an address'],
  ]);
});

test('a library for JWT verifies the token, for this request and a short time', async () => {
  const now = Math.floor(Date.now() / 1000);
  const token = paymentHeaders(PAYMENT, CALL, SECRET, now).at(-1)!;
  const key = new TextEncoder().encode(SECRET);
  const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], issuer: 'quittance-gate' });
  expect(payload).toMatchObject({
    settlement: 'stl_1',
    delivery: 'd-1',
    amount: '50000',
    payer: null,
    ...CALL,
  });
  await expect(jwtVerify(token, new TextEncoder().encode(`${SECRET}!`))).rejects.toThrow();
  const old = paymentHeaders(PAYMENT, CALL, SECRET, now - 200).at(-1)!;
  await expect(jwtVerify(old, key)).rejects.toThrow('exp');
});
