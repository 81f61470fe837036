import { parseArgs } from 'node:util';
import { simulate } from './simulate.ts';

/** `npm run simulate -- [--seeds 1000] [--from 1] [--seed n] [--trace]` */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});

const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const begun = Date.now();
let [failures, payments, virtualMs] = [0, 0, 0];
for (let seed = first; seed < first + count; seed++) {
  const outcome = await simulate(seed, { traced: values.trace });
  payments += outcome.payments;
  virtualMs += outcome.virtualMs;
  if (outcome.broken !== null) {
    failures += 1;
    console.log(`seed ${seed}: ${outcome.broken.message}`);
  }
  if (values.trace) for (const line of outcome.trace) console.log(line);
}
const seconds = (Date.now() - begun) / 1000;
console.log(
  `${count} seeds, ${payments} payments, ${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${seconds.toFixed(1)} s: ${failures} broken`,
);
if (failures > 0) console.log('replay one with: npm run simulate -- --seed <n> --trace');
process.exitCode = failures > 0 ? 1 : 0;
