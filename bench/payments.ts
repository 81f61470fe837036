// Latency of quote, settle and redeem through the public API, on a running stack.
// Run: RATE_LIMIT_SCALE=1000 npm start, then: node bench/payments.ts [--payments 500] [--concurrency 1,16]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { createApi, must } from '../deploy/local/people/api.ts';
import { createConsumer, createVendor, quoteOf, settleWith } from '../deploy/local/people/people.ts';
import type { Stack } from '../deploy/local/stack-file.ts';

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '500' },
    concurrency: { type: 'string', default: '1,16' },
    stack: { type: 'string', default: '.local/stack.json' },
  },
});
const stack = JSON.parse(readFileSync(values.stack, 'utf8')) as Stack;
const api = createApi(stack.gateway_url);
const payments = Number(values.payments);

type Step = 'quote' | 'settle' | 'redeem';

const run = async (concurrency: number): Promise<void> => {
  const vendor = await createVendor(api, stack, { price: 1_000_000n });
  // Eight payers, as a vendor would have many: each holds its own row.
  const payers = await Promise.all(
    Array.from({ length: 8 }, () =>
      createConsumer(api, stack, {
        balance: BigInt(payments) * 1_000_000n,
        allowance: BigInt(payments) * 1_000_000n,
      }),
    ),
  );
  const times: Record<Step, number[]> = { quote: [], settle: [], redeem: [] };
  const timed = async <T>(step: Step, work: Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work;
    times[step].push(performance.now() - startedAt);
    return result;
  };
  let next = 0;
  const worker = async () => {
    while (next < payments) {
      const payer = payers[next++ % payers.length]!;
      const quote = await timed('quote', quoteOf(api, vendor));
      const paid = await timed('settle', must(settleWith(api, payer.token, quote), 'settle'));
      const redeem = api(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
        token: vendor.apiKey,
        body: { settlement_token: paid.settlement_token },
      });
      await timed('redeem', must(redeem, 'redeem'));
      if (process.stderr.isTTY) process.stderr.write(`\r  ${next} of ${payments} `);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  if (process.stderr.isTTY) process.stderr.write('\r');
  console.log(
    `concurrency ${concurrency}: ${payments} payments in ${seconds.toFixed(1)} s, ${(payments / seconds).toFixed(1)} a second`,
  );
  for (const [step, list] of Object.entries(times)) {
    const sorted = list.toSorted((a, b) => a - b);
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1);
    console.log(
      `  ${step.padEnd(8)} p50 ${at(0.5).padStart(8)} ms   p99 ${at(0.99).padStart(8)} ms   max ${at(1).padStart(8)} ms`,
    );
  }
};

console.log(`node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model}`);
for (const concurrency of values.concurrency.split(',')) await run(Number(concurrency));

console.log('resident memory of each process afterwards');
for (const [name, pid] of Object.entries(stack.processes)) {
  const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
  console.log(`  ${name.padEnd(18)} ${(kilobytes / 1024).toFixed(0).padStart(5)} MB`);
}
