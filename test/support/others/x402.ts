import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm/exact/client';

/** The stock client of x402, and the requests that a stock vendor sends to its facilitator. */
type Buyer = (requirements: PaymentRequirements) => Promise<PaymentPayload>;

/** A buyer with the unmodified scheme of @x402/svm. */
export const createX402Buyer = async (wallet: Keypair, rpcUrl: string): Promise<Buyer> => {
  const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(wallet.secretKey), { rpcUrl });
  return async (requirements) => {
    const { payload } = await scheme.createPaymentPayload(2, requirements);
    return { x402Version: 2, accepted: requirements, payload } as PaymentPayload;
  };
};

type Answer = { status: number; text: string; isJson: boolean; body: Record<string, unknown> };

/** Calls a facilitator as `HTTPFacilitatorClient` does. */
export const createX402Facilitator = (
  url: string,
  apiKey: string,
  { timeoutMs = 120_000 }: { timeoutMs?: number } = {},
) => {
  const post = async (
    path: 'verify' | 'settle',
    paymentPayload: PaymentPayload,
    paymentRequirements: PaymentRequirements = paymentPayload.accepted,
  ): Promise<Answer> => {
    const response = await fetch(`${url}/v1/x402/${path}`, {
      method: 'POST',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, text, isJson, body: isJson ? JSON.parse(text) : {} };
  };
  return {
    verify: (payload: PaymentPayload) => post('verify', payload),
    /** @param requirements the vendor's, by default those that the buyer has accepted */
    settle: (payload: PaymentPayload, requirements?: PaymentRequirements) =>
      post('settle', payload, requirements),
    supported: async () => {
      const response = await fetch(`${url}/v1/x402/supported`, {
        signal: AbortSignal.timeout(timeoutMs),
        headers: { authorization: `Bearer ${apiKey}` },
      });
      return (await response.json()) as {
        kinds: { x402Version: number; network: string; extra: { feePayer: string } }[];
      };
    },
  };
};
