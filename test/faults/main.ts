// `npm run faults`: breaks a stack of its own for a while and proves that no payment was lost and none made twice.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { testStateDir } from '../support/test-state.ts';
import { runCampaign } from './campaign.ts';
import { faultNames } from './faults/index.ts';
import { reportLines } from './report.ts';

const usage = `Usage: npm run faults -- [options]

  --seconds 60         how long faults go on
  --faults a,b,c       only these, or all that begin so: kill, crash-before, nats-wipe (default: all)
  --seed n             repeats a schedule (default: a new one, printed)
  --rate 15            payments that begin in a second
  --slot-ms 100        pace of the chain
  --list               names the faults
  --help               this text
`;

const print = (line: string): void => console.log(line);

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    faults: { type: 'string', default: '' },
    seed: { type: 'string' },
    rate: { type: 'string', default: '15' },
    'slot-ms': { type: 'string', default: '100' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  print(usage);
  process.exit(0);
}

if (values.list) {
  for (const name of faultNames()) print(name);
  process.exit(0);
}
const seed = Number(values.seed ?? randomInt(1, 2 ** 31));
const stateDir = testStateDir('faults');
print(`seed ${seed}, state and logs in ${path.relative(process.cwd(), stateDir)}`);
const report = await runCampaign({
  stateDir,
  seed,
  seconds: Number(values.seconds),
  faults: values.faults.split(',').filter((name) => name !== ''),
  perSecond: Number(values.rate),
  slotMs: Number(values['slot-ms']),
  print,
});
for (const line of reportLines(report)) print(line);
print(`seed ${seed} repeats this schedule`);
process.exit(report.breaks.length === 0 ? 0 : 1);
