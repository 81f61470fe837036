// The buyer of one side: it calls the vendor's route and pays. A call is timed from its first
// request to the end of the delivered body.
import { setTimeout as sleep } from 'node:timers/promises';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import { sampleOf } from '../harness/statistics.ts';
import { type BuyerJob, type BuyerOutcome, type BuyerSettings, DELIVERY } from './job.ts';

type Get = (url: string) => Promise<Response>;

const MAX_AMOUNT = 1_000_000n;
const DELIVERED = JSON.stringify(DELIVERY);

/** One fetch for each payer. */
const createFetches = async (settings: BuyerSettings): Promise<Get[]> => {
  if (settings.protocol === 'quittance') {
    const { baseUrl, delegateKeys } = settings;
    return delegateKeys.map((delegateKey) =>
      payingFetch(fetch, { baseUrl, delegateKey, maxAmount: MAX_AMOUNT }),
    );
  }
  // Only the other side needs its packages, which are installed in their own folder.
  const { payingFetchOf } = await import('../../test/interop/x402/paying-fetch.mjs');
  const { rpcUrl, secretKeys } = settings;
  return Promise.all(secretKeys.map((secretKey) => payingFetchOf({ rpcUrl, secretKey })));
};

const fetches = await createFetches(JSON.parse(process.argv[2]!) as BuyerSettings);
let calls = 0;

const run = async (job: BuyerJob) => {
  const { origin, concurrency, seconds, restUpToMs, ownAddresses, untilFirstByte = false } = job;
  const times: number[] = [];
  const outcome: BuyerOutcome = { sample: null, failed: 0 };
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  const call = async (get: Get): Promise<void> => {
    const before = performance.now();
    const response = await get(`${origin}/report/${ownAddresses ? ++calls : 0}`);
    const beganAt = performance.now();
    const text = await response.text();
    if (response.status !== 200 || text !== DELIVERED)
      throw new Error(`the vendor answered ${response.status}: ${text.slice(0, 500)}`);
    times.push((untilFirstByte ? beganAt : performance.now()) - before);
  };
  const caller = async (_: unknown, index: number): Promise<void> => {
    for (;;) {
      if (restUpToMs > 0) await sleep(Math.random() * restUpToMs);
      if (performance.now() >= endsAt) return;
      await call(fetches[index % fetches.length]!).catch((error: Error) => {
        outcome.failed += 1;
        outcome.firstFailure ??= `${error.name}: ${error.message}`;
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  if (times.length > 0) outcome.sample = sampleOf(times, performance.now() - startedAt);
  return outcome;
};

process.on('message', (job: BuyerJob) => void run(job).then((outcome) => process.send!(outcome)));
process.on('disconnect', () => process.exit());
process.send!('ready');
