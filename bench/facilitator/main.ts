// The reference facilitator of x402 as in its documentation: the exact scheme for Solana of
// @x402/svm, unchanged, behind Fastify.
import { createKeyPairSignerFromBytes, createSolanaRpc, devnet } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import Fastify from 'fastify';
import type { FacilitatorSettings } from './facilitator.ts';

const { rpcUrl, network, feePayerKey } = JSON.parse(process.argv[2]!) as FacilitatorSettings;
const signer = await createKeyPairSignerFromBytes(Buffer.from(feePayerKey, 'base64'));
// One client per network for all calls. With only the URL, the signer would create a client for
// each call.
const rpc = { [network]: createSolanaRpc(devnet(rpcUrl)) };
const facilitator = new x402Facilitator().register(
  network,
  new ExactSvmScheme(toFacilitatorSvmSigner(signer, rpc)),
);

type Body = { paymentPayload: PaymentPayload; paymentRequirements: PaymentRequirements };
const app = Fastify();
app.post<{ Body: Body }>('/settle', async ({ body }, reply) => {
  const settled = await facilitator.settle(body.paymentPayload, body.paymentRequirements);
  return reply.status(settled.success ? 200 : 402).send(settled);
});
// For vendors. A payment that is not valid is an answer of these calls, not a failure.
app.get('/supported', () => facilitator.getSupported());
app.post<{ Body: Body }>('/verify', ({ body }) =>
  facilitator.verify(body.paymentPayload, body.paymentRequirements),
);
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.on('disconnect', () => process.exit());
process.send!({ address });
