// `npm run bench [-- name …] [--rounds 5] [--seconds 10] [--profile]`: the measurements of docs/benchmarks.md.
import { parseArgs } from 'node:util';
import { benchmarks } from './benchmarks/index.ts';
import { clearProfiles, showProfiles } from './frame/profiles.ts';
import { createReport } from './frame/report.ts';
import type { Options, Run } from './frame/run.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string' },
    profile: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '0,100000,2000000' },
    'in-flight': { type: 'string', default: '2000' },
    help: { type: 'boolean', default: false },
  },
});

const number = (name: string, text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new Error(`${name}: not a number: ${text}`);
  return value;
};

/** The soak is a command of its own: half an hour is not what somebody expects who measures everything. */
const byDefault = Object.keys(benchmarks).filter((name) => name !== 'soak');
const wanted = positionals.length > 0 ? positionals : byDefault;
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`no benchmark is named ${unknown.join(', ')}`);
  for (const [name, { about }] of Object.entries(benchmarks)) console.log(`  ${name.padEnd(14)} ${about}`);
  process.exit(unknown.length > 0 ? 1 : 0);
}

const cancel = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => cancel.abort());

const runOne = async (name: string): Promise<void> => {
  const options: Options = {
    rounds: number('rounds', values.rounds),
    seconds: number('seconds', values.seconds ?? (name === 'soak' ? '1800' : '10')),
    profile: values.profile,
    sizes: values.sizes.split(',').map((text) => number('sizes', text)),
    inFlight: number('in-flight', values['in-flight']),
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
// What an interrupted benchmark was waiting for may still hold the loop open.
process.exit();
