// A vendor as in the documentation of @solana/mpp, which pays the network's fees itself. It prints
// its URL, and a line per delivery. A path of `/denies` is refused after its payment was made, and
// `/keeps` is refused without making it.
import { createServer } from 'node:http';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Mppx, solana } from '@solana/mpp/server';
import { Request as ServerRequest } from 'mppx/server';
import { print, settings } from '../program.mjs';

/** `secretKey`: of the fee payer. `splits`: as in @solana/mpp. `amount`: micro-units. */
const { rpcUrl, mint, payTo, secretKey, amount, externalId, splits = [] } = settings();
const signer = await createKeyPairSignerFromBytes(Buffer.from(secretKey, 'base64'));
const mppx = Mppx.create({
  secretKey: 'the secret of challenges, at least 32 characters',
  realm: '127.0.0.1',
  methods: [
    solana.charge({
      recipient: payTo,
      currency: mint,
      decimals: 6,
      network: 'devnet',
      rpcUrl,
      signer,
      splits,
    }),
  ],
});
// The package signs with a confirmed blockhash and requests a preflight at `finalized`, where the
// blockhash is unknown ("Blockhash not found"). Only the commitment of that call is added.
const plainFetch = globalThis.fetch;
globalThis.fetch = (input, init) => {
  if (!String(init?.body).includes('"sendTransaction"')) return plainFetch(input, init);
  const body = JSON.parse(init.body);
  body.params[1].preflightCommitment = 'confirmed';
  return plainFetch(input, { ...init, body: JSON.stringify(body) });
};

let deliveries = 0;
const answer = async (request) => {
  const { pathname } = new URL(request.url);
  const ask = mppx.charge({ amount, currency: mint, ...(externalId && { externalId }) });
  if (pathname === '/keeps') return (await ask(new Request(request.url))).challenge;
  const result = await ask(request);
  if (result.status === 402) return result.challenge;
  if (pathname === '/denies') return (await ask(new Request(request.url))).challenge;
  deliveries += 1;
  print({ delivered: deliveries });
  return result.withReceipt(Response.json({ delivery: deliveries }));
};
const server = createServer(ServerRequest.toNodeListener(answer));
server.listen(0, '127.0.0.1', () => print({ url: `http://127.0.0.1:${server.address().port}/paid` }));
