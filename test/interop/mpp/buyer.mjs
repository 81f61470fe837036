// A buyer as in the documentation of mppx and @solana/mpp. It pays `url` several times and ends.
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Mppx, solana } from '@solana/mpp/client';
import { Receipt } from 'mppx';
import { bodyOf, print, repeat, settings } from '../program.mjs';

/** `secretKey`: Solana's 64 bytes in base64. `init`: of the requests. */
const { url, rpcUrl, secretKey, init, ...plan } = settings();
const signer = await createKeyPairSignerFromBytes(Buffer.from(secretKey, 'base64'));
const mppx = Mppx.create({ methods: [solana.charge({ signer, rpcUrl })], polyfill: false });
print({ ready: true });
await repeat(plan, async () => {
  const response = await mppx.fetch(url, { ...init });
  const paid = response.headers.has('Payment-Receipt');
  const receipt = paid ? Receipt.fromResponse(response) : null;
  return { status: response.status, body: await bodyOf(response), receipt };
});
