import { readCommandLine, wholeNumber } from '../../deploy/local/command-line.ts';
import { simulate } from './simulate.ts';

const usage = `Usage: npm run simulate -- [options]

  --seeds 1000   how many seeds
  --from 1       the first of them
  --seed n       this one alone
  --trace        everything that happened, not only of the first ones that break
  --help         this text

Prints how far it is every few seconds and each seed that breaks; exit code 1 when one did.`;

const { values } = readCommandLine(usage, {
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});

const PROGRESS_EVERY_MS = 5000;
const TRACES = 3;

const first = wholeNumber('seed', values.seed ?? values.from);
const count = values.seed === undefined ? wholeNumber('seeds', values.seeds) : 1;
const begun = Date.now();
const secondsSince = () => ((Date.now() - begun) / 1000).toFixed(1);
let told = begun;
let [payments, virtualMs] = [0, 0];
const broken: number[] = [];
for (let seed = first; seed < first + count; seed++) {
  const outcome = await simulate(seed, { traced: values.trace });
  payments += outcome.payments;
  virtualMs += outcome.virtualMs;
  if (outcome.broken !== null) {
    broken.push(seed);
    console.log(`seed ${seed}: ${outcome.broken.message}`);
  }
  if (values.trace || (outcome.broken !== null && broken.length <= TRACES))
    for (const line of outcome.trace) console.log(line);
  if (Date.now() - told >= PROGRESS_EVERY_MS) {
    told = Date.now();
    console.error(`${seed - first + 1} of ${count} seeds in ${secondsSince()} s, ${broken.length} broken`);
  }
}
console.log(
  `${count} seeds, ${payments} payments, ${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${secondsSince()} s: ${broken.length} broken`,
);
if (broken.length > 0) console.log(`replay one with: npm run simulate -- --seed ${broken[0]} --trace`);
process.exitCode = broken.length > 0 ? 1 : 0;
