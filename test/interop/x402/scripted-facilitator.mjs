// The reference facilitator of x402, which verifies and settles unchanged, with a behaviour in
// front of its settle. A vendor gets the behaviour that its facilitator URL ends with.
import { setTimeout as sleep } from 'node:timers/promises';
import { getBase58Decoder } from '@solana/kit';
import { print, settings } from '../program.mjs';
import { application, facilitatorOf } from './facilitator.mjs';

const POLL_MS = 50;
/**
 * `waitMs`: how long `waits` waits. `lateBlocks`: after how many blocks, from and to, `late` sends.
 * A payment that is signed with a finalized blockhash is valid for about 118 blocks.
 */
const { port, waitMs = 2000, lateBlocks = [95, 96], ...given } = settings();
const { facilitator, rpc } = await facilitatorOf(given);

/** The newest transaction that was settled, which `names-another` claims for the next payment. */
let newest = null;
const settle = async ({ paymentPayload, paymentRequirements }) => {
  const answer = await facilitator.settle(paymentPayload, paymentRequirements);
  if (answer.success) newest = answer.transaction;
  return answer;
};
const failure = ({ paymentRequirements: { network } }) => ({
  ...{ success: false, errorReason: 'unexpected_settle_error', transaction: '', network },
});
const success = ({ paymentRequirements: { network } }, transaction) => ({
  ...{ success: true, transaction, network },
});
const invented = () => getBase58Decoder().decode(crypto.getRandomValues(new Uint8Array(64)));

const heightOf = () => rpc.getBlockHeight({ commitment: 'processed' }).send();
const settleLate = async (body) => {
  const [from, to] = lateBlocks;
  const begun = await heightOf();
  const last = begun + BigInt(from + Math.floor(Math.random() * (to - from)));
  // The chain may be unavailable for a while.
  while ((await heightOf().catch(() => begun)) < last) await sleep(POLL_MS);
  return settle(body);
};

const behaviours = {
  honest: settle,
  waits: (body) => sleep(waitMs).then(() => settle(body)),
  'never-sends': failure,
  'sends-late': (body) => {
    settleLate(body).then(
      (answer) => print({ late: answer }),
      (error) => print({ late: { success: false, error: String(error) } }),
    );
    return failure(body);
  },
  'denies-payment': async (body) => {
    print({ denied: await settle(body) });
    return failure(body);
  },
  lies: (body) => success(body, invented()),
  'names-another': (body) => success(body, newest ?? invented()),
};

// A call of the reference that nobody waits for may fail while the chain is unavailable.
process.on('unhandledRejection', (error) => print({ unhandled: String(error) }));

const { app, listen } = application(port);
for (const [name, act] of Object.entries(behaviours)) {
  app.get(`/${name}/supported`, (_request, response) => response.json(facilitator.getSupported()));
  app.post(`/${name}/verify`, async ({ body }, response) => {
    response.json(await facilitator.verify(body.paymentPayload, body.paymentRequirements));
  });
  app.post(`/${name}/settle`, async ({ body }, response) => response.json(await act(body)));
}
listen();
