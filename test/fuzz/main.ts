import { parseArgs } from 'node:util';
import { type Outcome, runTarget, type Target } from './target.ts';
import { allTargets } from './targets.ts';

/**
 * `npm run fuzz`: many inputs for each parser of foreign bytes. The last line of a target has its
 * slowest answer. Exit code 1: a parser failed, or answered slower than the limit.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    /** Part of the name of a target. */
    only: { type: 'string', default: '' },
    'slowest-ms': { type: 'string', default: '50' },
  },
});
const runs = Number(options.runs);
const seed = Number(options.seed);
const limitMs = Number(options['slowest-ms']);
const PROGRESS_MS = 5000;

const line = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const withProgress = async (target: Target): Promise<Outcome> => {
  let done = 0;
  const timer = setInterval(
    () => line(`  ${target.name}: ${done} of ${runs * (target.times ?? 1)}`),
    PROGRESS_MS,
  );
  try {
    return await runTarget(target, {
      runs,
      seed,
      onRun: () => {
        done += 1;
      },
    });
  } finally {
    clearInterval(timer);
  }
};

const shownInput = (input: unknown): string => {
  const text = Buffer.isBuffer(input) ? input.toString('base64') : (JSON.stringify(input) ?? String(input));
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`;
};

const report = ({ name, times = 1 }: Target, { failure, slowest }: Outcome): boolean => {
  if (failure !== null) line(`FAILED  ${name}\n${failure}`);
  else
    line(
      `${slowest.ms > limitMs ? 'SLOW' : 'ok'}  ${name}: ${runs * times} inputs, slowest ${slowest.ms.toFixed(1)} ms`,
    );
  if (slowest.ms > limitMs) line(`  ${shownInput(slowest.input)}`);
  return failure === null && slowest.ms <= limitMs;
};

const targets = (await allTargets()).filter(({ name }) => name.includes(options.only));
line(`${targets.length} parsers, ${runs} inputs each, seed ${seed}`);
let isGood = targets.length > 0;
for (const target of targets) isGood = report(target, await withProgress(target)) && isGood;
process.exitCode = isGood ? 0 : 1;
