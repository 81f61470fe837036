import fc from 'fast-check';
import { requestOf } from '../../mcp/src/requests.ts';
import { shown } from '../../mcp/src/shown.ts';
import { BadReceiptError, verifyReceipt } from '../../sdk/src/checks/receipt.ts';
import { isResourceOf } from '../../sdk/src/checks/resource.ts';
import { BadTokenError, createTokenVerifier, type Keys } from '../../sdk/src/checks/tokens.ts';
import { verifyWebhook, WebhookVerificationError } from '../../sdk/src/checks/webhooks.ts';
import { readCall } from '../../sdk/src/pay/base/call.ts';
import { readBill, readWait } from '../../sdk/src/pay/base/dialects.ts';
import {
  askedOf,
  offerHeaders,
  payableOffers,
  priceOf,
  readPaymentResponse,
  transactionOf,
} from '../../sdk/src/pay/outgoing/outgoing-offers.ts';
import { signReceipt } from '../../shared/lib/tokens/receipt.ts';
import { receiptClaims } from '../support/stand-ins/receipts.ts';
import { KEYS, requirement, SIGNERS, TRANSACTION, tokenFor } from '../support/stand-ins/scripted-vendors.ts';
import { anyOrChanged, changedFields, changedJson, changedText, inBase64 } from './mutations.ts';
import { signedWebhook } from './signed.ts';
import { hold, refusing, refusingAsync, type Target, target } from './target.ts';

/** What vendors, the API and strangers send to a program with our SDK. */

const { asset, network } = requirement();
const NETWORK = { x402_network: network, usdc_mint: asset };
const ORIGIN = 'https://shop.example.com';

const offers = (version: 1 | 2) =>
  changedJson(
    fc.constant({
      x402Version: version,
      resource: { url: ORIGIN },
      accepts: [
        version === 2
          ? requirement()
          : { ...requirement({ network: 'solana-devnet' }), maxAmountRequired: '1000', resource: ORIGIN },
      ],
    }),
  );

/** A header that fetch accepts. Others never reach the program. */
const responseWith = (name: string, value: string, body = ''): Response | null => {
  try {
    return new Response(body, { status: 402, headers: { [name]: value } });
  } catch {
    return null;
  }
};

const payable = async (response: Response): Promise<void> => {
  const call = await readCall(`${ORIGIN}/a`, {}, 0);
  for (const offer of await payableOffers(response, { call, readNetwork: async () => NETWORK })) {
    const { quote_amount, payout_address } = priceOf(offer, `${ORIGIN}/a`);
    hold(BigInt(quote_amount) > 0n && typeof payout_address === 'string', 'an offer without a price');
    JSON.stringify({ ...askedOf(offer), ...offerHeaders(offer, 'x') });
  }
};

const keys = KEYS as Keys;
const receipt = await signReceipt(receiptClaims(), SIGNERS.settlement);
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const EVENT = { id: 'evt_1', type: 'settlement.issued', timestamp: '2026-11-21T10:00:00.000Z', data: {} };

/** Tokens whose signature is valid for whatever they claim. */
const signedTokens = changedFields(fc.constant({ resource: `${ORIGIN}/a`, units: 3 })).map((scope) =>
  tokenFor(`${ORIGIN}/a`, { scope }),
);

const ADDRESS = 'http://127.0.0.1:8080';

/** What a model asks the MCP server to send, and names of vendors that a person reads. */
const mcpTargets = (): Target[] => [
  target(
    'mcp: headers and body of a request',
    fc.tuple(
      fc.dictionary(anyOrChanged(fc.constant('x-report')), anyOrChanged(fc.constant('a')), { maxKeys: 3 }),
      anyOrChanged(fc.constant('YWJj')),
    ),
    ([headers, body]) => {
      const sent = refusing([TypeError], () =>
        requestOf({ url: ADDRESS, method: 'POST', headers, body, body_encoding: 'base64' }),
      );
      // What was accepted is refused by fetch at most.
      if (sent !== null) refusing([TypeError], () => new Request(ADDRESS, sent));
    },
  ),
  target('mcp: a name in a question', anyOrChanged(fc.constant('Weather “API” \u202e(you)\n')), (text) => {
    const line = shown(text, 80);
    hold(!/[\p{C}\p{Zl}\p{Zp}"]/u.test(line), 'a question with a line break, a control or a quotation mark');
    hold([...line].length <= 80, 'a name that is too long');
  }),
];

export const clientTargets = (): Target[] => {
  const verify = createTokenVerifier('test', async () => keys);
  const refusals = [WebhookVerificationError] as const;
  return [
    ...mcpTargets(),
    target('client: PAYMENT-REQUIRED of x402', anyOrChanged(inBase64(offers(2))), async (header) => {
      const response = responseWith('payment-required', header);
      if (response !== null) await payable(response);
    }),
    target('client: body of a 402 of x402, version 1', offers(1), (body) =>
      payable(new Response(body, { status: 402 })),
    ),
    target(
      'client: PAYMENT-RESPONSE of x402',
      anyOrChanged(inBase64(changedJson(fc.constant({ success: true, transaction: TRANSACTION, network })))),
      (header) => {
        const response = responseWith('payment-response', header);
        if (response === null) return;
        transactionOf(readPaymentResponse({ version: 2, requirement: requirement() as never }, response));
      },
    ),
    target(
      'client: body of a 402 of Quittance',
      changedJson(fc.constant({ error: 'payment_required', quote_token: 'a.b', expires_at: 'x' })),
      async (body) => {
        await readBill(new Response(body, { status: 402 }));
        await readWait(new Response(body, { status: 503, headers: { 'retry-after': '9'.repeat(400) } }));
      },
    ),
    target(
      'client: quote tokens',
      fc.oneof(anyOrChanged(fc.constant(tokenFor(`${ORIGIN}/a`))), signedTokens),
      async (token) => {
        const claims = await refusingAsync([BadTokenError], () => verify('quote', token));
        if (claims !== null) isResourceOf(claims.scope?.resource, `${ORIGIN}/a`);
      },
    ),
    target('client: receipts', anyOrChanged(fc.constant(receipt)), (text) =>
      refusingAsync([BadReceiptError], () => verifyReceipt(text, { environment: 'test', keys })),
    ),
    target(
      'client: resource of a quote',
      changedText(fc.constant(`${ORIGIN}:443/a/b%2Fc/../d?x=1`)),
      (claimed) => {
        if (isResourceOf(claimed, `${ORIGIN}/a`)) hold(URL.canParse(claimed), 'a resource that is no URL');
      },
    ),
    target(
      'client: signature of a webhook',
      fc.tuple(
        changedJson(fc.constant(EVENT)),
        fc.array(anyOrChanged(fc.constant('v1,AAAA')), { maxLength: 3 }),
      ),
      ([body, signatures]) =>
        refusingAsync(refusals, () =>
          verifyWebhook(
            body,
            {
              'webhook-id': 'evt_1',
              'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
              'webhook-signature': signatures.join(' '),
            },
            SECRET,
          ),
        ),
    ),
    target('client: signed body of a webhook', changedJson(fc.constant(EVENT)), async (body) => {
      const event = await refusingAsync(refusals, () =>
        verifyWebhook(body, signedWebhook(SECRET, body), SECRET),
      );
      if (event !== null) hold(typeof event.id === 'string', 'an event without an id');
    }),
    target(
      'client: headers of a webhook',
      fc.tuple(anyOrChanged(fc.constant('1700000000')), anyOrChanged(fc.constant('evt_1'))),
      ([timestamp, id]) =>
        refusingAsync(refusals, () =>
          verifyWebhook(
            '{}',
            { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': 'v1,AAAA' },
            SECRET,
          ),
        ),
    ),
  ];
};
