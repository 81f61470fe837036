import { must } from '../../deploy/local/seed/api.ts';
import { createBenchVendor, quoteCall } from '../harness/actors.ts';
import { type Cpu, measured, type Pids, showCpu } from '../harness/cpu.ts';
import { sampled, startLoad } from '../harness/load.ts';
import { compare } from '../harness/rounds.ts';
import { copyTable } from '../harness/rows.ts';
import type { Benchmark } from '../harness/run.ts';
import { noteDurability, startBenchStack } from '../harness/stack.ts';
import { startSkeleton } from '../skeleton/skeleton.ts';

const CONCURRENCY = 16;

export const quote: Benchmark = {
  about: 'POST /v1/quote against the skeleton: Fastify, one NATS request, one INSERT of the same row',
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    await noteDurability(bench, run);
    const load = await startLoad();
    run.defer(load.stop);
    const vendor = await createBenchVendor(bench);
    const body = { service_id: vendor.serviceId };
    const { quote_id } = await must(
      bench.api<{ quote_id: string }>('POST /v1/quote', { token: vendor.apiKey, body }),
      'quote',
    );
    // The skeleton inserts this row repeatedly, with new ids.
    const { rows } = await bench.db.query<Record<string, unknown>>(
      'select * from quote.quotes where quote_id = $1',
      [quote_id],
    );
    const row = { ...rows[0]!, quote_id: '$new' };
    await copyTable(bench.db, 'quote.quotes');
    const skeleton = await startSkeleton(run, bench, {
      quote: {
        text: `insert into bench.quotes (${Object.keys(row).join(', ')})
          values (${Object.keys(row).map((_, index) => `$${index + 1}`)}) returning quote_id`,
        values: Object.values(row),
      },
    });
    const job = { kind: 'calls', concurrency: CONCURRENCY, repeat: true } as const;
    const { gateway_url: origin } = bench.stack;
    const cpu: Cpu = {};
    const pids: Pids = () => ({ ...bench.pids(), ...skeleton.pids, load: load.pid });
    const title = `quote, concurrency ${CONCURRENCY}`;
    const ratios = await compare(run, title, [
      {
        name: 'ours',
        round: (seconds) =>
          bench.profiled(() =>
            measured(pids, cpu, 'ours', async () =>
              sampled(await load.run({ ...job, origin, calls: [quoteCall(vendor)], seconds })),
            ),
          ),
      },
      {
        name: 'skeleton',
        round: async (seconds) => {
          const call = { method: 'POST', path: '/quote', body: JSON.stringify(body) } as const;
          return measured(pids, cpu, 'skeleton', async () =>
            sampled(await load.run({ ...job, origin: skeleton.origin, calls: [call], seconds })),
          );
        },
      },
    ]);
    showCpu(run, `${title}: CPU ms per call`, cpu);
    run.report.target({
      what: 'quote: throughput, share of the skeleton’s',
      value: ratios.skeleton!.perSecond.median,
      atLeast: 0.9,
    });
  },
};
