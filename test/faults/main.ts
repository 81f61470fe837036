// `npm run faults`: breaks a stack of its own for a while and proves that no payment was lost and
// none made twice.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { readCommandLine, wholeNumber } from '../../deploy/local/processes/command-line.ts';
import { testStateDir } from '../support/test-state.ts';
import { type Options, runCampaign } from './campaign.ts';
import { faultNames, outgoingFaultNames, x402FaultNames } from './faults/index.ts';
import { type Mutation, mutations } from './mutations.ts';
import { runOutgoingCampaign } from './outgoing/campaign.ts';
import { outgoingReportLines } from './outgoing/report.ts';
import type { PaymentsOptions } from './payments-campaign.ts';
import { keepRecord, readRecords, sumLines } from './record.ts';
import { reportLines } from './report.ts';
import { runX402Campaign } from './x402/campaign.ts';
import { x402ReportLines } from './x402/report.ts';

const usage = `Usage: npm run faults -- [options]

  --seconds 60         duration of the faults
  --faults a,b,c       only these, or all with this prefix: kill, crash-before, nats-wipe (default: all)
  --seed n             repeats a schedule (default: a new one, printed)
  --rate 15            payments that begin per second (default: 15; 5 of x402 and outgoing ones)
  --slot-ms 100        slot time of the chain
  --replicas 2         processes of each service (default: two of gateway, settlement and chain-submitter, one of the others)
  --x402               payments of x402 to our vendors instead of ours
  --outgoing           payments of x402 to vendors of others
  --payments 1000      how many of those
  --mutate all         switches one rule off at a time: each must break the campaign
  --sum                adds up the figures of all runs so far
  --list               lists the faults
  --help               this text`;

const print = (line: string): void => console.log(line);

const { values } = readCommandLine(usage, {
  options: {
    seconds: { type: 'string', default: '60' },
    faults: { type: 'string', default: '' },
    seed: { type: 'string' },
    rate: { type: 'string' },
    'slot-ms': { type: 'string', default: '100' },
    replicas: { type: 'string' },
    x402: { type: 'boolean', default: false },
    outgoing: { type: 'boolean', default: false },
    payments: { type: 'string', default: '1000' },
    mutate: { type: 'string' },
    sum: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
if (values.list) {
  const names = values.outgoing ? outgoingFaultNames : values.x402 ? x402FaultNames : faultNames;
  for (const name of names()) print(name);
  process.exit(0);
}
if (values.sum) {
  for (const line of sumLines(readRecords())) print(line);
  process.exit(0);
}
const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber('seed', values.seed);
/** The recovery of a mutant never ends, so a short wait suffices. */
const MUTANT_TERMINAL_MS = 30_000;
const numberIn = (name: 'seconds' | 'payments' | 'slot-ms') => wholeNumber(name, values[name]);
const options: Omit<Options & PaymentsOptions, 'stateDir' | 'seconds' | 'payments'> = {
  seed,
  faults: values.faults.split(',').filter((name) => name !== ''),
  ...(values.rate === undefined ? {} : { perSecond: wholeNumber('rate', values.rate) }),
  slotMs: numberIn('slot-ms'),
  print,
};
const native = {
  seconds: numberIn('seconds'),
  ...(values.replicas === undefined ? {} : { replicas: wholeNumber('replicas', values.replicas) }),
};
const counted = { payments: numberIn('payments') };

/** The campaign that the options select. */
const run = async (stateDir: string): Promise<{ breaks: unknown[]; lines: string[] }> => {
  if (values.outgoing) {
    const report = await runOutgoingCampaign({ ...options, ...counted, stateDir });
    return { breaks: report.breaks, lines: outgoingReportLines(report) };
  }
  if (values.x402) {
    const report = await runX402Campaign({ ...options, ...counted, stateDir });
    return { breaks: report.breaks, lines: x402ReportLines(report) };
  }
  const report = await runCampaign({ ...options, ...native, stateDir });
  keepRecord({ command: process.argv.slice(2).join(' '), seed, report });
  return { breaks: report.breaks, lines: reportLines(report) };
};

/** One campaign over the unchanged product. */
const prove = async (): Promise<boolean> => {
  const stateDir = testStateDir('faults');
  print(`seed ${seed}, state and logs in ${path.relative(process.cwd(), stateDir)}`);
  const { breaks, lines } = await run(stateDir);
  for (const line of lines) print(line);
  print(`seed ${seed} repeats this schedule`);
  return breaks.length === 0;
};

type MutantOptions = Omit<PaymentsOptions & Options, 'abandoned'>;
/** The campaigns that find a mutation. `paid`: how many payments succeeded nevertheless. */
const runMutant: Record<
  'quittance' | NonNullable<Mutation['rail']>,
  (mutant: MutantOptions) => Promise<{ paid: number; breaks: readonly { invariant: string }[] }>
> = {
  quittance: runCampaign,
  x402: (mutant) => runX402Campaign(mutant).then((report) => ({ ...report, paid: report.delivered })),
  x402_out: (mutant) => runOutgoingCampaign(mutant).then((report) => ({ ...report, paid: report.transfers })),
};

/** A campaign for each rule that is switched off. True when all of them broke. */
const mutate = async (wanted: string): Promise<boolean> => {
  const chosen = mutations.filter(({ name }) => wanted === 'all' || name === wanted);
  if (chosen.length === 0)
    throw new Error(`the mutations are ${mutations.map(({ name }) => name).join(', ')}`);
  let caught = 0;
  print('| Rule switched off | Rule | Faults | Paid | Invariants that broke |');
  print('| --- | --- | --- | --- | --- |');
  for (const mutation of chosen) {
    const { faults, name, rule } = mutation;
    const mutant = {
      ...options,
      faults,
      mutation,
      terminalMs: MUTANT_TERMINAL_MS,
      stateDir: testStateDir('faults'),
      print: () => {},
    };
    const report = await runMutant[mutation.rail ?? 'quittance']({ ...mutant, ...native, ...counted });
    const { paid } = report;
    const found = [...new Set(report.breaks.map(({ invariant }) => invariant))].filter(
      (invariant) => invariant !== 'somebody-paid',
    );
    if (found.length > 0) caught += 1;
    const broke = found.map((invariant) => `\`${invariant}\``).join(', ');
    print(`| ${name} | ${rule} | ${faults.join(', ')} | ${paid} | ${broke || 'NOT CAUGHT'} |`);
  }
  return caught === chosen.length;
};

const good = values.mutate === undefined ? await prove() : await mutate(values.mutate);
process.exit(good ? 0 : 1);
