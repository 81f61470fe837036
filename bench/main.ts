// `npm run bench`: the measurements of docs/benchmarks.md.
import { readCommandLine, refuse, wholeNumber } from '../deploy/local/processes/command-line.ts';
import { benchmarks } from './benchmarks/index.ts';
import { clearProfiles, showProfiles } from './harness/profiles.ts';
import { createReport } from './harness/report.ts';
import type { Options, Run } from './harness/run.ts';

const usage = `Usage: npm run bench -- [name …] [options]

${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(14)} ${about}`)
  .join('\n')}

  --rounds 5             number of rounds of each side
  --seconds 10           duration of each round (soak: 1800 in total)
  --profile              where the CPU goes
  --tls                  encrypted connections to the servers, as in live: settle, x402, counts, footprint, idle
  --sizes, --in-flight   for growth and for scale-out
  --concurrency 64,256   only these: settle, x402, paid-route
  --only 'settle; x402'  only these scenarios of counts, or parts of metered (usage, tabs, first byte)
  --help                 this text

Without a name, all benchmarks except soak run. docs/benchmarks.md describes what each one measures, and how.`;

const { values, positionals } = readCommandLine(usage, {
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string' },
    profile: { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '0,100000,3000000' },
    'in-flight': { type: 'string', default: '2000' },
    concurrency: { type: 'string' },
    only: { type: 'string' },
  },
});

/** The soak runs only by its name, because half an hour is too long for a run of all benchmarks. */
const byDefault = Object.keys(benchmarks).filter((name) => name !== 'soak');
const wanted = positionals.length > 0 ? positionals : byDefault;
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) refuse(`no benchmark is named ${unknown.join(', ')}\n\n${usage}`);

const concurrencies = values.concurrency?.split(',').map((text) => wholeNumber('concurrency', text));
if (concurrencies?.includes(0)) refuse('--concurrency must be at least 1');

const cancel = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => cancel.abort());

const runOne = async (name: string): Promise<void> => {
  const options: Options = {
    rounds: wholeNumber('rounds', values.rounds),
    seconds: wholeNumber('seconds', values.seconds ?? (name === 'soak' ? '1800' : '10')),
    profile: values.profile,
    tls: values.tls,
    sizes: values.sizes.split(',').map((text) => wholeNumber('sizes', text)),
    inFlight: wholeNumber('in-flight', values['in-flight']),
    ...(concurrencies !== undefined && { concurrencies }),
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
