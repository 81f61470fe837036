// A buyer as in the documentation of x402-fetch, of version 1 of the protocol.
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';
import { bodyOf, print, repeat, settings } from '../program.mjs';

/** `secretKey`: Solana's 64 bytes in base58. `network`: `solana` or `solana-devnet`. */
const { url, rpcUrl, secretKey, network, ...plan } = settings();
const signer = await createSigner(network, secretKey);
const payingFetch = wrapFetchWithPayment(fetch, signer, undefined, undefined, { svmConfig: { rpcUrl } });
print({ ready: true });
await repeat(plan, async () => {
  const response = await payingFetch(url);
  const receipt = response.headers.get('X-PAYMENT-RESPONSE');
  return {
    status: response.status,
    body: await bodyOf(response),
    receipt: receipt === null ? null : decodeXPaymentResponse(receipt),
  };
});
