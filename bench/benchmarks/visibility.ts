import { setTimeout as sleep } from 'node:timers/promises';
import { quoteOf, settleWith, type Vendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { createBenchVendor, createPayers, type Payer } from '../harness/actors.ts';
import type { Benchmark } from '../harness/run.ts';
import { type BenchStack, startBenchStack } from '../harness/stack.ts';
import { percentile } from '../harness/statistics.ts';

/** Payers that pay at the same time, each one payment after the other. */
const PAYERS = 8;
/** The target is far above the pause, and the reads must not be the load. */
const POLL_MS = 5;

type Times = { transactions: number[]; summary: number[] };

/** How long after the 200 of a settle its payer sees the payment in what it reads. */
export const visibility: Benchmark = {
  about: 'from the 200 of a settle until the payment is in GET /v1/transactions and in the summary',
  run: async (run) => {
    const { report, options } = run;
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    const vendor = await createBenchVendor(bench);
    const payers = await createPayers(bench, PAYERS);
    const times: Times = { transactions: [], summary: [] };
    for (let round = 0; round <= options.rounds; round += 1) {
      report.progress(`round ${round} of ${options.rounds}`);
      const endsAt = performance.now() + options.seconds * 1000;
      const found = await Promise.all(payers.map((payer) => payUntil(bench, vendor, payer, endsAt)));
      // The first round warms up.
      if (round === 0) continue;
      for (const each of found) {
        times.transactions.push(...each.transactions);
        times.summary.push(...each.summary);
      }
    }
    report.table(
      `${PAYERS} payers, ms after the 200`,
      ['', 'payments', 'p50', 'p99', 'max'],
      Object.entries(times).map(([name, all]) => [
        name,
        all.length,
        percentile(all, 0.5),
        percentile(all, 0.99),
        percentile(all, 1),
      ]),
    );
    for (const [name, all] of Object.entries(times))
      report.target({ what: `${name}: p99, ms after the 200`, value: percentile(all, 0.99), atMost: 100 });
  },
};

/** Pays until a moment, and measures for each payment when its reads show it. */
const payUntil = async (
  { api }: BenchStack,
  vendor: Vendor,
  payer: Payer,
  endsAt: number,
): Promise<Times> => {
  const times: Times = { transactions: [], summary: [] };
  const token = await payer.token();
  const countOf = async () =>
    (await must(api<{ payment_count: number }>('GET /v1/spending/summary', { token }), 'read the summary'))
      .payment_count;
  const isListed = async (id: string) =>
    (
      await must(
        api<{ data: object[] }>(`GET /v1/transactions?object_id=${id}`, { token }),
        'list the transactions',
      )
    ).data.length > 0;
  while (performance.now() < endsAt) {
    const quote = await quoteOf(api, vendor);
    const before = await countOf();
    const { settlement_id } = await must(settleWith(api, token, quote), 'settle');
    const paidAt = performance.now();
    const after = async (isShown: () => Promise<boolean>): Promise<number> => {
      while (!(await isShown())) await sleep(POLL_MS);
      return performance.now() - paidAt;
    };
    const [listed, counted] = await Promise.all([
      after(() => isListed(settlement_id)),
      after(async () => (await countOf()) > before),
    ]);
    times.transactions.push(listed);
    times.summary.push(counted);
  }
  return times;
};
