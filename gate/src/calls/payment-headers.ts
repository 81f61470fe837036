import { createHmac } from 'node:crypto';
import type { PaywallPayment } from '../../../sdk/src/paywall/main.ts';

/**
 * What the upstream learns of a payment. With a secret it is also signed as a JWT (HS256), which
 * every language can check with a library: the upstream then knows that the request came through
 * the gate, whoever else can reach it. The token is bound to the method and the target, so one that
 * leaks in a log opens no other request.
 */

/** The upstream's clock may differ from the gate's. */
const LIFE_SECONDS = 120;

const base64Url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = base64Url({ alg: 'HS256', typ: 'JWT' });

const tokenOf = (secret: string, claims: object): string => {
  const signed = `${HEADER}.${base64Url(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
};

/**
 * The headers about a payment.
 * @param secret null: nothing is signed
 * @param now epoch seconds
 */
export const paymentHeaders = (
  payment: PaywallPayment,
  { method, target }: { method: string; target: string },
  secret: string | null,
  now: number,
): string[] => {
  const { paymentId, deliveryId, payer, meter } = payment;
  // On a metered route the most that the call can cost.
  const amount = String(meter?.left ?? payment.amount);
  const headers = [
    'Quittance-Settlement',
    paymentId,
    'Quittance-Delivery',
    deliveryId,
    'Quittance-Amount',
    amount,
  ];
  if (payer !== null) headers.push('Quittance-Payer', payer);
  if (secret === null) return headers;
  const times = { iat: now, exp: now + LIFE_SECONDS };
  const about = { settlement: paymentId, delivery: deliveryId, amount, payer, method, target };
  const claims = { iss: 'quittance-gate', ...times, ...about };
  headers.push('Quittance-Token', tokenOf(secret, claims));
  return headers;
};
