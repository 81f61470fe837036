import fc from 'fast-check';
import { acceptedOf } from '../../sdk/src/accept-payment.ts';
import type { Bill, Dialect, PaywallContext } from '../../sdk/src/paywall/base/dialect.ts';
import { type Incoming, requestIdOf, resourceIn } from '../../sdk/src/paywall/base/incoming.ts';
import { mpp } from '../../sdk/src/paywall/dialects/mpp.ts';
import { readTransaction, wrongIn } from '../../sdk/src/paywall/dialects/transaction.ts';
import { x402 } from '../../sdk/src/paywall/dialects/x402.ts';
import { newServiceId } from '../../shared/lib/id.ts';
import {
  askedBy,
  fromBase64,
  paymentOn,
  paymentV1,
  wireTransaction,
} from '../support/actors/incoming-buyers.ts';
import { PUBLIC_URL, RESOURCE, TERMS } from '../support/stand-ins/vendor-api.ts';
import { anyOrChanged, changedBytes, changedJson, changedText, inBase64, inBase64Url } from './mutations.ts';
import { hold, type Target, target } from './target.ts';

/** What a buyer sends to a vendor with our paywall. */

const KINDS = [
  { method: 'tempo', intent: 'session' },
  { method: 'solana', intent: 'charge' },
];
const SECRET = 'a secret of the vendor, 32 or more';
const BILL: Bill = {
  ...{ resource: RESOURCE, amount: '50000', units: null },
  ...{ replays: true, metered: null, route: {} },
};
const context: PaywallContext = {
  serviceId: newServiceId(),
  publicUrl: PUBLIC_URL,
  findTerms: async () => TERMS as never,
  accept: async () => 'spent',
};
const incomingWith = (headers: Record<string, string>): Incoming => ({
  method: 'GET',
  target: '/report',
  header: (name) => headers[name] ?? null,
  body: async () => new Uint8Array(),
});

/** Reads a payment and decides about it, as the paywall does. */
const present = async (dialect: Dialect, headers: Record<string, string>): Promise<void> => {
  const presented = await dialect.read(incomingWith(headers), BILL);
  if (presented === null || 'status' in presented) return;
  hold(/^[0-9a-f]{64}$/.test(presented.id), 'the id of a payment is no hash');
  const refusal = await presented.mismatch(BILL);
  if (refusal === null) hold(presented.order !== undefined, 'an accepted payment has no order');
};

/** Targets with the payments of one offer of each protocol. */
export const paywallTargets = async (): Promise<Target[]> => {
  const dialects = {
    x402: x402({ secret: SECRET, v1: true })(context),
    mpp: mpp({ secret: SECRET })(context),
  };
  const headersOf = async (dialect: Dialect) => {
    const offer = await dialect.offer(BILL, incomingWith({}), null);
    if ('status' in offer) throw new Error('the dialect offers nothing');
    const headers = new Headers(offer.headers);
    for (const { text } of offer.challenges ?? []) headers.append('www-authenticate', text);
    return { headers, body: offer.body };
  };
  const offered = await headersOf(dialects.x402);
  const challenged = await headersOf(dialects.mpp);
  const payment = fromBase64(paymentOn.x402(offered.headers)['payment-signature']!);
  const [first] = (offered.body as { accepts: { network: string }[] }).accepts;
  const ofV1 = fromBase64(paymentV1(first!)['x-payment']!);
  const [, credential] = paymentOn.mpp(challenged.headers).authorization!.split(' ');
  const wire = Buffer.from(wireTransaction(askedBy.x402(offered.headers)), 'base64');
  const transfers = {
    feePayer: TERMS.fee_payer,
    mint: TERMS.mint,
    legs: [{ owner: TERMS.payout_address, amount: '50000' }],
  };
  /** JSON of a payment whose transaction has changed bytes. */
  const withBytes = (value: typeof payment) =>
    changedBytes(fc.constant(wire)).map((bytes) =>
      JSON.stringify({ ...value, payload: { ...value.payload, transaction: bytes.toString('base64') } }),
    );
  const payments = (value: typeof payment) => fc.oneof(changedJson(fc.constant(value)), withBytes(value));

  return [
    target('paywall: PAYMENT-SIGNATURE of x402', anyOrChanged(inBase64(payments(payment))), (header) =>
      present(dialects.x402, { 'payment-signature': header }),
    ),
    target('paywall: X-PAYMENT of x402, version 1', anyOrChanged(inBase64(payments(ofV1))), (header) =>
      present(dialects.x402, { 'x-payment': header }),
    ),
    target(
      'paywall: Authorization of MPP',
      fc
        .tuple(
          fc.constantFrom('Payment ', 'payment  ', 'Bearer a, Payment ', 'Payment'),
          anyOrChanged(inBase64Url(payments(fromBase64(credential!)))),
        )
        .map((parts) => parts.join('')),
      async (header) => {
        await present(dialects.mpp, { authorization: header });
        await present(dialects.mpp, { 'payment-authorization': header });
      },
    ),
    target(
      'paywall: Accept-Payment of MPP',
      changedText(fc.constant('tempo/*, solana/charge;q=0.5, */session;q=0')),
      (header) => {
        const accepted = acceptedOf(header, KINDS);
        hold(accepted.length > 0 && accepted.every((kind) => KINDS.includes(kind)), 'no challenge is left');
        hold(new Set(accepted).size === accepted.length, 'a challenge is there twice');
      },
    ),
    target(
      'paywall: a signed transaction',
      changedBytes(fc.constant(wire)).map((bytes) => bytes.toString('base64')),
      async (text) => {
        const transaction = readTransaction(text);
        if (transaction !== null) await wrongIn(transaction, transfers, 'memo');
      },
    ),
    target(
      'paywall: target and x-payment-request-id of a request',
      fc.tuple(changedText(fc.constant('/report/2?city=Ulm&a=%20#top')), anyOrChanged(fc.uuid())),
      ([text, id]) => {
        const resource = resourceIn(PUBLIC_URL, text);
        hold(resource === null || resource.startsWith(`${PUBLIC_URL}/`), 'the resource is of another origin');
        requestIdOf(incomingWith({ 'x-payment-request-id': id }));
      },
    ),
  ];
};
