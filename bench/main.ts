// `npm run prove -- bench`: the measurements of docs/benchmarks.md.
import {
  flag,
  readCommandLine,
  refuse,
  text,
  whole,
  wholes,
} from '../deploy/local/processes/command-line.ts';
import { benchmarks } from './benchmarks/index.ts';
import { clearProfiles, showProfiles } from './harness/profiles.ts';
import { createReport } from './harness/report.ts';
import type { Options, Run } from './harness/run.ts';

const { values, words, usage } = readCommandLine({
  typed: 'npm run prove -- bench',
  words: '[name …]',
  about: `Runs the benchmarks of these names, or all except migrate, soak and steady. docs/benchmarks.md describes what each one measures, and
how.

${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(14)} ${about}`)
  .join('\n')}`,
  options: {
    rounds: whole('N', 'number of rounds of each side', 5),
    seconds: whole('N', 'duration of each round; without it 10, and 1800 in total for soak'),
    profile: flag('where the CPU goes'),
    tls: flag('encrypted connections to the servers, as in live: settle, x402, counts'),
    sizes: wholes('N,N', 'for growth', [0, 100_000, 3_000_000]),
    rows: whole('N', 'for migrate', 3_000_000),
    'in-flight': whole('N', 'for scale-out', 2000),
    concurrency: wholes('N,N', 'only these: settle, x402, paid-route'),
    rates: wholes('N,N', 'for steady: payments a second', [50]),
    write: flag('counts writes bench/figures.json, steady bench/load-ratios.json'),
    only: text('TEXT;TEXT', 'only these scenarios of counts, or parts of metered (usage, tabs, first byte)'),
  },
});

/** These run only by their names, because half an hour is too long for a run of all benchmarks. */
const byDefault = Object.keys(benchmarks).filter((name) => !['soak', 'migrate', 'steady'].includes(name));
const wanted = words.length > 0 ? words : byDefault;
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) refuse(`no benchmark is named ${unknown.join(', ')}\n\n${usage}`);

const { concurrency } = values;
if (concurrency?.includes(0)) refuse('--concurrency must be at least 1');

const cancel = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => cancel.abort());

const runOne = async (name: string): Promise<void> => {
  const options: Options = {
    rounds: values.rounds,
    seconds: values.seconds ?? (name === 'soak' ? 1800 : 10),
    profile: values.profile,
    tls: values.tls,
    sizes: values.sizes,
    rows: values.rows,
    inFlight: values['in-flight'],
    write: values.write,
    rates: values.rates,
    ...(concurrency !== undefined && { concurrencies: concurrency }),
    ...(values.only !== undefined && { only: values.only.split(';').map((name) => name.trim()) }),
  };
  const stops: (() => Promise<unknown>)[] = [];
  const report = createReport(name, options);
  const run: Run = { name, options, report, defer: (stop) => void stops.push(stop), signal: cancel.signal };
  clearProfiles(run);
  const cancelled = new Promise<never>((_, reject) => {
    if (cancel.signal.aborted) reject(cancel.signal.reason as Error);
    cancel.signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true });
  });
  try {
    await Promise.race([benchmarks[name]!.run(run), cancelled]);
    if (options.profile) await showProfiles(run);
    report.finish();
  } finally {
    report.progress('stopping');
    for (const stop of stops.toReversed()) await stop().catch((error: unknown) => console.error(error));
    report.progress('');
  }
};

for (const name of wanted) {
  try {
    await runOne(name);
  } catch (error) {
    console.error(cancel.signal.aborted ? 'interrupted' : error);
    process.exitCode = 1;
  }
  if (cancel.signal.aborted) break;
}
// Open operations of an interrupted benchmark may keep the event loop alive.
process.exit();
