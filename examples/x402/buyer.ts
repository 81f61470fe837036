// A buyer of @x402/fetch. It pays any vendor of x402 and knows nothing of Quittance.
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

const [url] = process.argv.slice(2);
const { RPC_URL, SECRET_KEY } = process.env;
if (url === undefined || RPC_URL === undefined || SECRET_KEY === undefined)
  throw new Error('usage: RPC_URL=… SECRET_KEY=<of a wallet with USDC, base58> node buyer.ts <address>');

const signer = await createKeyPairSignerFromBytes(new Uint8Array(getBase58Encoder().encode(SECRET_KEY)));
// The client's own limit applies: at most 1 USDC for one answer.
const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: RPC_URL }));
const response = await wrapFetchWithPayment(fetch, client)(url);
const receipt = response.headers.get('PAYMENT-RESPONSE');
console.log(
  JSON.stringify({
    status: response.status,
    body: await response.json(),
    transaction: receipt === null ? null : decodePaymentResponseHeader(receipt).transaction,
  }),
);
