import { createDelegate } from '../../deploy/local/seed/actors.ts';
import { createBenchVendor, createPayers, type Payer, settleCalls } from '../harness/actors.ts';
import { type Cpu, measured, showCpu } from '../harness/cpu.ts';
import { sampled, startLoad } from '../harness/load.ts';
import { compare, type Side } from '../harness/rounds.ts';
import type { Benchmark } from '../harness/run.ts';
import { noteDurability, startBenchStack } from '../harness/stack.ts';
import type { Call } from '../load/job.ts';

const CONCURRENCY = 16;
/** Quotes that are refused again and again: each is recorded once. */
const REPEATED = 64;
/** The code of a payment above the limit of its delegate. */
const REFUSED = 403;

/**
 * Refused settles: of a new quote each, which is recorded with its event, and of quotes whose
 * refusal is recorded already. The difference is the cost of a decline.
 */
export const declines: Benchmark = {
  about: 'POST /v1/settle that is refused: recorded as a decline, against repeats that are recorded already',
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    await noteDurability(bench, run);
    const load = await startLoad();
    run.defer(load.stop);
    const vendor = await createBenchVendor(bench);
    const [payer] = await createPayers(bench, 1);
    const { api_key } = await createDelegate(bench.api, payer!.consumer, { per_payment: '1' });
    const payers: Payer[] = [{ consumer: payer!.consumer, token: async () => api_key }];
    const cpu: Cpu = {};
    const pids = () => ({ ...bench.pids(), load: load.pid });
    const sideOf = (name: string, callsOf: (count: number) => Promise<Call[]>, repeat: boolean): Side => {
      let perSecond = 1000;
      return {
        name,
        round: async (seconds) => {
          const calls = await callsOf(Math.ceil(perSecond * seconds * 1.5) + CONCURRENCY);
          const sample = await measured(pids, cpu, name, async () =>
            sampled(
              await load.run({
                kind: 'calls',
                origin: bench.stack.gateway_url,
                calls,
                concurrency: CONCURRENCY,
                seconds,
                repeat,
                counted: REFUSED,
              }),
            ),
          );
          perSecond = sample.perSecond;
          return sample;
        },
      };
    };
    const repeated = await settleCalls(bench, load, { vendor, payers, count: REPEATED });
    const title = `refused settle, concurrency ${CONCURRENCY}`;
    await compare(run, title, [
      sideOf('recorded', (count) => settleCalls(bench, load, { vendor, payers, count }), false),
      sideOf('repeats', async () => repeated, true),
    ]);
    showCpu(run, `${title}: CPU ms per call`, cpu);
  },
};
