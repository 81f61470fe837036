import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Payer } from '../harness/actors.ts';
import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';
import type { Call } from '../load/job.ts';

/** `feePayerKey`: Solana's 64 bytes, base64. */
export type FacilitatorSettings = { rpcUrl: string; network: `solana:${string}`; feePayerKey: string };

export type Facilitator = {
  origin: string;
  /**
   * Payments by these payers in turn. They are signed now and expire with their blockhash, a minute
   * later.
   */
  sign: (payers: readonly Payer[], count: number) => Promise<Call[]>;
};

/** The network name of devnet, which the scheme accepts. The RPC URL determines the chain. */
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const SIGNED_AT_ONCE = 32;

/**
 * Starts the reference facilitator on the chain of a stack, with its own fee payer.
 * @param payTo owner of the token account that is paid; the account must exist
 */
export const startFacilitator = async (
  run: Run,
  { stack }: BenchStack,
  { payTo, amountMicro }: { payTo: string; amountMicro: bigint },
): Promise<Facilitator> => {
  const { rpc_url: rpcUrl, usdc_mint } = stack.environments.test!;
  const feePayer = Keypair.generate();
  await airdrop(rpcUrl, feePayer);
  const settings: FacilitatorSettings = {
    rpcUrl,
    network: NETWORK,
    feePayerKey: Buffer.from(feePayer.secretKey).toString('base64'),
  };
  const child = await startChild(new URL('./main.ts', import.meta.url), settings);
  run.defer(child.stop);

  const requirements: PaymentRequirements = {
    scheme: 'exact',
    network: NETWORK,
    asset: usdc_mint,
    amount: amountMicro.toString(),
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: feePayer.publicKey.toBase58() },
  };
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
  const signed = async (payer: Payer): Promise<Call> => {
    const { payload } = await (await clientOf(payer)).createPaymentPayload(2, requirements);
    const paymentPayload = { x402Version: 2, accepted: requirements, payload };
    const body = { x402Version: 2, paymentPayload, paymentRequirements: requirements };
    return { method: 'POST', path: '/settle', body: JSON.stringify(body) };
  };
  return {
    origin: (child.hello as { address: string }).address,
    sign: async (payers, count) => {
      const calls: Call[] = [];
      while (calls.length < count) {
        const some = Array.from({ length: Math.min(SIGNED_AT_ONCE, count - calls.length) }, (_, index) =>
          signed(payers[(calls.length + index) % payers.length]!),
        );
        calls.push(...(await Promise.all(some)));
      }
      return calls;
    },
  };
};

const airdrop = async (rpcUrl: string, { publicKey }: Keypair): Promise<void> => {
  const connection = new Connection(rpcUrl, 'confirmed');
  await connection.requestAirdrop(publicKey, 100 * LAMPORTS_PER_SOL);
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await connection.getBalance(publicKey, 'confirmed')) > 0) return;
    await sleep(100);
  }
  throw new Error('the airdrop to the facilitator did not arrive');
};
