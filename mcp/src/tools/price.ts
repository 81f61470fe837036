import * as z from 'zod';
import { type Price, payeesOfPrice } from '../../../sdk/src/pay/main.ts';
import { inBoth, micro, usdc } from '../amounts.ts';
import { answerWith, isOwn, refusalOf, refuseWith, UNTRUSTED } from '../answers.ts';
import { ForeignError } from '../errors.ts';
import { addressFields, requestOf } from '../requests.ts';
import { payeesIn, payeesShape } from './shapes.ts';
import type { Register } from './tools.ts';

/** Ends a request at its price, before anything is paid. */
export class PriceError extends Error {
  readonly price: Price;
  constructor(price: Price) {
    super('the price is known');
    this.price = price;
  }
}

const LONGEST_MS = 30_000;
/** Hosts run a tool that only reads without a question, so it must not change anything. */
const inputSchema = z.strictObject({
  ...addressFields,
  method: z
    .enum(['GET', 'HEAD'], {
      error: 'price sends only GET and HEAD. For another method call fetch_paid with max_usdc "0"',
    })
    .optional()
    .describe('Default: GET'),
});
const outputSchema = z.object({
  untrusted: z.string(),
  status: z.int().describe('The HTTP status without a payment'),
  price: z
    .object({
      amount: micro,
      amount_usdc: usdc,
      payees: payeesShape,
      payee_name: z.string(),
      rail: z.enum(['quittance', 'x402_out', 'mpp_out']),
      expires_at: z.string().nullable(),
      units: z.int().nullable().describe('How many requests one payment buys. Null: one'),
    })
    .nullable(),
  note: z.string(),
});

const priceIn = (price: Price & { expires_at?: string; scope?: { units?: unknown } | null }) => ({
  ...inBoth({ amount: price.quote_amount }),
  payees: payeesIn(payeesOfPrice(price)),
  payee_name: price.service_name,
  rail: price.rail ?? 'quittance',
  expires_at: price.expires_at ?? null,
  units: Number.isInteger(price.scope?.units) ? price.scope?.units : null,
});

/** Asks a URL for its price. */
export const registerPrice: Register = (server, { ask }) => {
  const config = {
    title: 'Ask for a price',
    description:
      'Calls a URL by GET or HEAD without paying and returns the price that it asks for. ' +
      'For the price of another method call fetch_paid with max_usdc "0", which sends the request and pays nothing.',
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true, openWorldHint: true },
  };
  server.registerTool('price', config, async (args, context) => {
    try {
      const signal = AbortSignal.any([context.mcpReq.signal, AbortSignal.timeout(LONGEST_MS)]);
      const response = await ask(args.url, { ...requestOf(args), signal });
      response.body?.cancel().catch(() => undefined);
      const note =
        response.status === 402
          ? 'It asks for a payment that this server cannot make: another protocol, network or currency.'
          : 'It answers without a payment.';
      return answerWith({ untrusted: UNTRUSTED, status: response.status, price: null, note });
    } catch (error) {
      if (!(error instanceof PriceError))
        return refuseWith(refusalOf(isOwn(error) ? error : new ForeignError(error, false)));
      return answerWith({
        untrusted: UNTRUSTED,
        status: 402,
        price: priceIn(error.price),
        note: 'Nothing was paid.',
      });
    }
  });
};
