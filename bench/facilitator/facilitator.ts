import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { connectTo } from '../../deploy/local/processes/chain-connection.ts';
import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';
import { createPaymentCalls, type PaymentCalls } from './payment-calls.ts';

/** `feePayerKey`: Solana's 64 bytes, base64. */
export type FacilitatorSettings = { rpcUrl: string; network: `solana:${string}`; feePayerKey: string };

export type Facilitator = {
  origin: string;
  pid: number;
  network: FacilitatorSettings['network'];
  sign: PaymentCalls;
};

/** The network name of devnet, which the scheme accepts. The RPC URL determines the chain. */
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

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
  return {
    origin: (child.hello as { address: string }).address,
    pid: child.pid,
    network: NETWORK,
    sign: createPaymentCalls({ rpcUrl, requirements, path: '/settle' }),
  };
};

const airdrop = async (rpcUrl: string, { publicKey }: Keypair): Promise<void> => {
  const connection = connectTo(rpcUrl);
  await connection.requestAirdrop(publicKey, 100 * LAMPORTS_PER_SOL);
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await connection.getBalance(publicKey, 'confirmed')) > 0) return;
    await sleep(100);
  }
  throw new Error('the airdrop to the facilitator did not arrive');
};
