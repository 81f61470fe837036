import { setTimeout as sleep } from 'node:timers/promises';
import type { Payer } from '../harness/actors.ts';
import type { Load } from '../harness/load.ts';
import { startPayingStack } from '../harness/paying-stack.ts';
import { handlesOf, residentMbOf } from '../harness/process-figures.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability } from '../harness/stack.ts';
import { hasGrown } from '../harness/statistics.ts';

const CONCURRENCY = 16;
const PAYERS = 8;
const FULL_LOAD_SECONDS = 15;
/** Access tokens are renewed between two slices. */
const SLICE_SECONDS = 60;
const SAMPLES = 60;

/** The allowed difference between the middle and the last third of the time, which covers noise. */
const SLACK: Record<string, { share: number; least: number }> = {
  'MB of': { share: 0.05, least: 8 },
  'handles of': { share: 0, least: 8 },
  // Autovacuum leaves up to a fifth of a table dead, and the tables grow.
  'dead rows of': { share: 0.2, least: 5000 },
  'outbox of': { share: 0, least: 50 },
  'waiting in': { share: 0, least: 50 },
};

/**
 * Half of the stack's capacity, for a long time. Sixty samples show whether the series stay level.
 */
export const soak: Benchmark = {
  about: 'payments at half load for --seconds (1800): memory, handles, queues and dead rows stay level',
  run: async (run) => {
    const { report, options } = run;
    const { bench, load, vendor, payers } = await startPayingStack(run, 'stack', {
      chainSlotMs: 0,
      payerCount: PAYERS,
    });
    await noteDurability(bench, run);

    const pay = paying(bench, load, vendor, payers);
    report.progress('soak: measuring the full load');
    const full = await pay(Math.min(FULL_LOAD_SECONDS, options.seconds));
    const perSecond = full.paid / full.seconds / 2;
    report.note(
      `${(2 * perSecond).toFixed(1)} payments per second at full load, and half of that from now on`,
    );

    const samples: Record<string, number>[] = [];
    const sampling = startSampling(bench, samples, (options.seconds * 1000) / SAMPLES);
    let paid = 0;
    let late = 0;
    const endsAt = performance.now() + options.seconds * 1000;
    while (performance.now() < endsAt) {
      const left = (endsAt - performance.now()) / 1000;
      report.progress(`soak: ${left.toFixed(0)} s to go, ${paid} payments`);
      const slice = await pay(Math.min(SLICE_SECONDS, Math.max(1, left)), perSecond);
      paid += slice.paid;
      late += slice.late;
    }
    await sampling.stop();
    report.note(`${paid} payments, ${late} of them not confirmed in 15 s`);
    show(run, samples);
  },
};

const paying =
  (bench: BenchStack, load: Load, vendor: { apiKey: string; serviceId: string }, payers: readonly Payer[]) =>
  async (seconds: number, perSecond?: number) => {
    const outcome = await load.run({
      kind: 'payments',
      origin: bench.stack.gateway_url,
      vendor: { apiKey: vendor.apiKey, serviceId: vendor.serviceId },
      payerTokens: await Promise.all(payers.map(({ token }) => token())),
      concurrency: CONCURRENCY,
      seconds,
      ...(perSecond !== undefined && { perSecond }),
    });
    const paid = outcome.times.settle?.length ?? 0;
    return { paid, late: outcome.statuses[202] ?? 0, seconds: outcome.elapsedMs / 1000 };
  };

const startSampling = (bench: BenchStack, into: Record<string, number>[], everyMs: number) => {
  const stop = new AbortController();
  const work = (async () => {
    while (!stop.signal.aborted) {
      into.push(await takeSample(bench));
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      stop.abort();
      await work;
    },
  };
};

const takeSample = async (bench: BenchStack): Promise<Record<string, number>> => {
  const seen: Record<string, number> = {};
  for (const [name, pid] of Object.entries(bench.pids())) {
    seen[`MB of ${name}`] = residentMbOf(pid);
    seen[`handles of ${name}`] = handlesOf(pid);
  }
  const { rows } = await bench.db.query<{ name: string; dead: string }>(
    `select schemaname || '.' || relname as name, n_dead_tup as dead from pg_stat_user_tables`,
  );
  for (const { name, dead } of rows) seen[`dead rows of ${name}`] = Number(dead);
  for (const { name } of rows.filter((row) => row.name.endsWith('.outbox'))) {
    const outbox = await bench.db.query<{ count: string }>(`select count(*) from ${name}`);
    seen[`outbox of ${name}`] = Number(outbox.rows[0]!.count);
  }
  Object.assign(seen, await queues(bench));
  return seen;
};

/** The messages of each consumer that are undelivered or unacknowledged. */
const queues = async (bench: BenchStack): Promise<Record<string, number>> => {
  const nats = await bench.nats();
  try {
    const seen: Record<string, number> = {};
    const manager = await nats.jetstreamManager();
    for await (const { config } of manager.streams.list()) {
      for await (const consumer of manager.consumers.list(config.name))
        seen[`waiting in ${consumer.name}`] = consumer.num_pending + consumer.num_ack_pending;
    }
    return seen;
  } finally {
    await nats.close();
  }
};

/** The local chain keeps its whole history in memory, and the sandboxes are local tools too. */
const isTool = (name: string): boolean => / of (chain|onramps)$/.test(name);

const show = ({ report }: Run, samples: readonly Record<string, number>[]): void => {
  const names = Object.keys(samples.at(-1)!);
  const series = names.map((name) => ({ name, values: samples.map((each) => each[name] ?? 0) }));
  const judged = series.map(({ name, values }) => {
    const [, slack] = Object.entries(SLACK).find(([prefix]) => name.startsWith(prefix))!;
    return { name, values, grown: !isTool(name) && hasGrown(values, slack) };
  });
  report.table(
    `${samples.length} samples`,
    ['', 'first', 'middle', 'last', 'most', ''],
    judged
      .toSorted((a, b) => a.name.localeCompare(b.name))
      // Tables without writes show nothing.
      .filter(({ values }) => Math.max(...values) > 0)
      .map(({ name, values, grown }) => [
        name,
        values[0]!,
        values[values.length >> 1]!,
        values.at(-1)!,
        Math.max(...values),
        grown ? 'GROWS' : 'level',
      ]),
  );
  report.data('samples', samples);
  report.target({ what: 'growing series', value: judged.filter(({ grown }) => grown).length, atMost: 0 });
};
