// `npm run prove -- fuzz`: many inputs for each parser of foreign bytes.
import { readCommandLine, text, whole } from '../../deploy/local/processes/command-line.ts';
import { type Outcome, runTarget, type Target } from './target.ts';
import { allTargets } from './targets.ts';

const { values } = readCommandLine({
  typed: 'npm run prove -- fuzz',
  about: `Gives many almost valid inputs to each parser of foreign bytes. The last line of a parser has its slowest answer.
Ends with 1 if a parser failed, or answered slower than the limit.`,
  options: {
    runs: whole('N', 'inputs for each parser', 100_000),
    seed: whole('N', 'of the inputs; without it a new one, which is printed'),
    only: text('TEXT', 'only the parsers whose name contains the text', ''),
    'slowest-ms': whole('N', 'the limit of an answer', 50),
  },
});
const { runs, seed = Date.now() % 2 ** 31, 'slowest-ms': limitMs } = values;
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

const targets = (await allTargets()).filter(({ name }) => name.includes(values.only));
line(`${targets.length} parsers, ${runs} inputs each, seed ${seed}`);
let isGood = targets.length > 0;
for (const target of targets) isGood = report(target, await withProgress(target)) && isGood;
process.exitCode = isGood ? 0 : 1;
