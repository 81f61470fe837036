import { createDelegate, type Vendor } from '../../deploy/local/seed/actors.ts';
import { installInterop } from '../../test/support/others/interop.ts';
import { type Facilitator, startFacilitator } from '../facilitator/facilitator.ts';
import { createPayers, type Payer, PRICE_MICRO } from '../harness/actors.ts';
import { type Cpu, measured, showCpu } from '../harness/cpu.ts';
import { startPayingStack } from '../harness/paying-stack.ts';
import { compare, type Side } from '../harness/rounds.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability } from '../harness/stack.ts';
import type { BuyerJob } from '../route/job.ts';
import { type RouteSide, startSide } from '../route/side.ts';

const PAYERS = 8;
const CONCURRENCIES = [1, 16, 64];
const SLOT_MS = 400;
const PRICE = PRICE_MICRO.toString();

/** Ours as a share of theirs. */
type Targets = { p50: number; throughput?: number };
type Pressure = Omit<BuyerJob, 'origin' | 'seconds'>;
type Sides = { bench: BenchStack; ours: RouteSide; facilitator: Facilitator; theirs: RouteSide };

export const paidRoute: Benchmark = {
  about: 'a paid route, from the first request to the delivery, against the stock x402 middleware and buyer',
  run: async (run) => {
    const sides = await createSides(run, 'stack', false);
    for (const concurrency of run.options.concurrencies ?? CONCURRENCIES) {
      const title = `paid-route, concurrency ${concurrency}`;
      await compareSides(run, sides, title, { concurrency, restUpToMs: 0, ownAddresses: true });
      // As in the benchmark settle: without a pause, the calls synchronise with the slots.
      const spread = { concurrency, restUpToMs: SLOT_MS, ownAddresses: true };
      await compareSides(run, sides, `${title}, spread over a slot`, spread);
      if (concurrency === 1) continue;
      // Unpaid requests to one address share a quote (ADR 37), so concurrent buyers compete for it.
      const same = { ...spread, ownAddresses: false };
      await compareSides(run, sides, `${title}, spread over a slot, one address`, same);
    }
  },
};

/**
 * Both on one chain with their own payers, each with a vendor and a buyer in two processes.
 * @param label distinguishes several stacks of one run
 */
export const createSides = async (run: Run, label: string, metered: boolean): Promise<Sides> => {
  await installInterop('x402');
  const options = { chainSlotMs: SLOT_MS, payerCount: PAYERS };
  const { bench, vendor, payers } = await startPayingStack(run, label, options);
  await noteDurability(bench, run);
  const payTo = vendor.payout.publicKey.toBase58();
  const facilitator = await startFacilitator(run, bench, { payTo, amountMicro: PRICE_MICRO });
  const payersOfTheirs = await createPayers(bench, PAYERS);
  return {
    bench,
    facilitator,
    ours: await startOurs(run, bench, { vendor, payers, metered }),
    theirs: await startTheirs(run, bench, { facilitator, payTo, payers: payersOfTheirs }),
  };
};

/** The SDK on both sides. The buyer has delegate keys, and no key of a wallet. */
const startOurs = async (
  run: Run,
  { api, stack }: BenchStack,
  { vendor, payers, metered }: { vendor: Vendor; payers: readonly Payer[]; metered: boolean },
): Promise<RouteSide> => {
  const { apiKey: serviceKey, serviceId } = vendor;
  const baseUrl = stack.gateway_url;
  const delegates = await Promise.all(payers.map(({ consumer }) => createDelegate(api, consumer, {})));
  const delegateKeys = delegates.map(({ api_key }) => api_key);
  return startSide(run, {
    vendor: { protocol: 'quittance', baseUrl, serviceKey, serviceId, price: PRICE, metered },
    buyer: { protocol: 'quittance', baseUrl, delegateKeys },
  });
};

/** The packages of x402 on both sides, with the reference facilitator. */
const startTheirs = (
  run: Run,
  { stack }: BenchStack,
  { facilitator, payTo, payers }: { facilitator: Facilitator; payTo: string; payers: readonly Payer[] },
): Promise<RouteSide> => {
  const { origin: facilitatorUrl, network } = facilitator;
  const { rpc_url: rpcUrl } = stack.environments.test!;
  const secretKeys = payers.map(({ consumer }) => Buffer.from(consumer.wallet.secretKey).toString('base64'));
  return startSide(run, {
    vendor: { protocol: 'x402', facilitatorUrl, network, payTo, price: PRICE },
    buyer: { protocol: 'x402', rpcUrl, secretKeys },
  });
};

/** Measures both sides in turns, and sets the targets. */
export const compareSides = async (
  run: Run,
  { bench, ours, facilitator, theirs }: Sides,
  title: string,
  pressure: Pressure,
  targets: Targets = { p50: 0.9, throughput: 1 },
): Promise<void> => {
  const cpu: Cpu = {};
  const sideOf = (name: string, { buy, pids }: RouteSide): Side => ({
    name,
    round: (seconds) => {
      const work = async () => {
        const { sample, failed, firstFailure } = await buy({ ...pressure, seconds });
        const failure = `${title}: ${failed} calls of ${name} were not delivered, the first: ${firstFailure}`;
        if (sample === null || (failed > 0 && name === 'ours')) throw new Error(failure);
        if (failed > 0) run.report.note(`${failure}. They are not counted`);
        return sample;
      };
      const all = () => ({ ...bench.pids(), facilitator: facilitator.pid, ...pids });
      return measured(all, cpu, name, () => (name === 'ours' ? bench.profiled(work) : work()));
    },
  });
  const { x402 } = await compare(run, title, [sideOf('ours', ours), sideOf('x402', theirs)]);
  showCpu(run, `${title}: CPU ms per delivered call`, cpu);
  const { p50, throughput } = targets;
  run.report.target({ what: `${title}: p50, share of theirs`, value: x402!.p50.median, atMost: p50 });
  if (throughput !== undefined)
    run.report.target({
      what: `${title}: throughput, share of theirs`,
      value: x402!.perSecond.median,
      atLeast: throughput,
    });
};
