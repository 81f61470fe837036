import { createKeyPairSignerFromBytes, createSolanaRpc, devnet } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/facilitator';
import express from 'express';
import { print } from '../program.mjs';

const V1_NETWORK = 'solana-devnet';

/**
 * The reference facilitator of x402 as in its documentation: the exact scheme for Solana of
 * @x402/svm in the versions 2 and 1 of the protocol, unchanged.
 * @param settings `rpcUrl`, `network`, and `secretKey`: Solana's 64 bytes in base64
 */
export const facilitatorOf = async ({ rpcUrl, network, secretKey }) => {
  const feePayer = await createKeyPairSignerFromBytes(Buffer.from(secretKey, 'base64'));
  // With only the URL, the signer would create a client for each call.
  const rpc = createSolanaRpc(devnet(rpcUrl));
  const signer = toFacilitatorSvmSigner(feePayer, { [network]: rpc, [V1_NETWORK]: rpc });
  const facilitator = new x402Facilitator()
    .register(network, new ExactSvmScheme(signer))
    .registerV1(V1_NETWORK, new ExactSvmSchemeV1(signer));
  return { facilitator, rpc };
};

/** An application with the JSON bodies of these calls, and the function that starts it. */
export const application = (port = 0) => {
  const app = express();
  app.use(express.json());
  const listen = () => {
    const listening = app.listen(port, '127.0.0.1', () =>
      print({ url: `http://127.0.0.1:${listening.address().port}` }),
    );
  };
  return { app, listen };
};
