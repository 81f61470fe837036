import { createKeyPairSignerFromBytes, createSolanaRpc } from '@solana/kit';
import type { PaymentRequirements } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Payer } from '../harness/actors.ts';
import type { Call } from '../load/job.ts';

/**
 * Calls that settle new payments of these payers in turn. The payments are signed now and expire
 * with their blockhash, a minute later.
 */
export type PaymentCalls = (payers: readonly Payer[], count: number) => Promise<Call[]>;

const SIGNED_AT_ONCE = 32;

/** The reference client of x402, which signs payments as the requirements say. */
export const createPaymentCalls = ({
  rpcUrl,
  requirements,
  ...call
}: {
  rpcUrl: string;
  requirements: PaymentRequirements;
} & Pick<Call, 'path' | 'token'>): PaymentCalls => {
  const clients = new Map<Payer, Promise<ExactSvmScheme>>();
  const clientOf = (payer: Payer): Promise<ExactSvmScheme> => {
    const known = clients.get(payer);
    if (known) return known;
    const made = createKeyPairSignerFromBytes(payer.consumer.wallet.secretKey).then(
      (signer) => new ExactSvmScheme(signer, { rpcUrl }),
    );
    clients.set(payer, made);
    return made;
  };
  const rpc = createSolanaRpc(rpcUrl);
  // The client uses a blockhash in the requirements and would otherwise read one for each payment.
  const withBlockhash = async (): Promise<PaymentRequirements> => {
    const { value } = await rpc.getLatestBlockhash().send();
    const lastValidBlockHeight = value.lastValidBlockHeight.toString();
    const extra = { ...requirements.extra, recentBlockhash: value.blockhash, lastValidBlockHeight };
    return { ...requirements, extra };
  };
  const signed = async (payer: Payer, demanded: PaymentRequirements): Promise<Call> => {
    const { payload } = await (await clientOf(payer)).createPaymentPayload(2, demanded);
    const paymentPayload = { x402Version: 2, accepted: requirements, payload };
    const body = { x402Version: 2, paymentPayload, paymentRequirements: requirements };
    return { ...call, method: 'POST', body: JSON.stringify(body) };
  };
  return async (payers, count) => {
    const calls: Call[] = [];
    while (calls.length < count) {
      const demanded = await withBlockhash();
      const some = Array.from({ length: Math.min(SIGNED_AT_ONCE, count - calls.length) }, (_, index) =>
        signed(payers[(calls.length + index) % payers.length]!, demanded),
      );
      calls.push(...(await Promise.all(some)));
    }
    return calls;
  };
};
