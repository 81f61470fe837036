import type { Keypair, PublicKey } from '@solana/web3.js';
import { networkOf } from '../../deploy/local/stack/networks.ts';

/**
 * Vendors of x402 and MPP in this process. They include what they are paid with, and deliver.
 * test/interop has unmodified ones.
 */

type Settings = {
  /** Includes a signed payment, and returns its transaction. */
  include: (transaction: string) => Promise<string>;
  payees: readonly string[];
  feePayer: Keypair;
  mint: PublicKey;
  price: bigint;
};

const SPLIT = 1000n;

const inBase64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const inBase64Url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const fromBase64 = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString());

const x402Vendor = ({ include, payees, feePayer, mint, price }: Settings) => {
  const priceOf = (id: number) => ({
    ...{ scheme: 'exact', network: networkOf('test').caip2, asset: mint.toBase58(), maxTimeoutSeconds: 60 },
    ...{ amount: `${price}`, payTo: payees[id % payees.length]! },
    extra: { feePayer: feePayer.publicKey.toBase58() },
  });
  return {
    include,
    price: priceOf,
    route: async (request: Request, id: number): Promise<Response> => {
      const payment = request.headers.get('payment-signature');
      if (payment === null) {
        const required = { x402Version: 2, resource: { url: request.url }, accepts: [priceOf(id)] };
        return Response.json({}, { status: 402, headers: { 'payment-required': inBase64(required) } });
      }
      const transaction = await include(fromBase64(payment).payload.transaction);
      const settled = { success: true, transaction, network: networkOf('test').caip2 };
      return Response.json({ sold: true }, { headers: { 'payment-response': inBase64(settled) } });
    },
  };
};

const mppVendor = ({ include, payees, feePayer, mint, price }: Settings) => {
  /** With a split. Its memo makes each payment one of its own. */
  const priceOf = (id: number) => ({
    ...{ amount: `${price}`, currency: mint.toBase58(), externalId: `order ${id}` },
    recipient: payees[id % payees.length]!,
    methodDetails: {
      ...{ network: 'devnet', decimals: 6, feePayer: true, feePayerKey: feePayer.publicKey.toBase58() },
      splits: [{ recipient: payees[(id + 1) % payees.length]!, amount: `${SPLIT}` }],
    },
  });
  const parameters = (id: string) => ({ id, realm: 'shop', method: 'solana', intent: 'charge' });
  return {
    parameters,
    price: priceOf,
    route: async (request: Request, id: number): Promise<Response> => {
      const credential = request.headers.get('authorization');
      if (credential === null) {
        const challenge = Object.entries({ ...parameters(`c${id}`), request: inBase64Url(priceOf(id)) });
        const text = challenge.map(([name, value]) => `${name}="${value}"`).join(', ');
        return Response.json({}, { status: 402, headers: { 'www-authenticate': `Payment ${text}` } });
      }
      const transaction = await include(fromBase64(credential.replace('Payment ', '')).payload.transaction);
      const receipt = { status: 'success', method: 'solana', reference: transaction };
      return Response.json({ sold: true }, { headers: { 'payment-receipt': inBase64Url(receipt) } });
    },
  };
};

export const outsideVendors = (settings: Settings) => ({
  x402: x402Vendor(settings),
  mpp: mppVendor(settings),
});
export type Outside = ReturnType<typeof outsideVendors>;
