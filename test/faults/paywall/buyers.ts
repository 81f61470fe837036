import { ComputeBudgetProgram, type Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { askedBy, fromBase64, paymentOn, wireTransaction } from '../../support/actors/incoming-buyers.ts';
import { createX402Buyer } from '../../support/others/x402.ts';
import type { Harness } from '../harness.ts';

/** Signs what the offer of a 402 asks for. Returns base64. */
type Sign = (offer: Headers) => Promise<string>;
/** A client that signs, and the headers with which it presents what it has signed. */
export type Client = { sign: Sign; headersOf: (typeof paymentOn)['x402'] };

/** The unmodified scheme of @x402/svm. */
export const createX402Client = async (wallet: Keypair, rpcUrl: string): Promise<Client> => {
  const buyer = await createX402Buyer(wallet, rpcUrl);
  return {
    sign: async (offer) => {
      const [requirements] = fromBase64(offer.get('payment-required')).accepts as PaymentRequirements[];
      const { payload } = await buyer(requirements!);
      return String(payload.transaction);
    },
    headersOf: paymentOn.x402,
  };
};

/** A client that signs as @solana/mpp does. */
export const createMppClient = (payer: Keypair, { rpc }: Pick<Harness, 'rpc'>): Client => ({
  sign: async (offer) => {
    const options = { commitment: 'confirmed' };
    const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', options);
    const before = [
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      ComputeBudgetProgram.setComputeUnitLimit({ units: 50_000 }),
    ];
    return wireTransaction(askedBy.mpp(offer), { payer, before, blockhash: value.blockhash });
  },
  headersOf: paymentOn.mpp,
});
