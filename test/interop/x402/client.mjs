import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';

/**
 * A client with one wallet and its spend controls at their defaults.
 * @param settings `rpcUrl`, and `secretKey`: Solana's 64 bytes in base64
 */
export const clientOf = async ({ rpcUrl, secretKey }) => {
  const signer = await createKeyPairSignerFromBytes(Buffer.from(secretKey, 'base64'));
  return new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
};
