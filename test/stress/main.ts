// `npm run prove -- stress`: suites again and again, in another order each time and with little
// CPU.
import { spawn } from 'node:child_process';
import { closeSync, globSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { flag, positive, readCommandLine, refuse, whole } from '../../deploy/local/processes/command-line.ts';
import { everFailed } from './ever-failed.ts';
import { addRound, type JestRun, nothingYet, table } from './results.ts';
import { slowDown } from './slow-down.ts';

const { values, words } = readCommandLine({
  typed: 'npm run prove -- stress',
  words: '[pattern]',
  about: `Runs suites again and again: those whose path matches the regular expression, or those of
test/stress/ever-failed.ts.`,
  options: {
    rounds: whole('N', 'how often the suites are run', 20),
    cpu: positive('CORES', 'cores that the run gets', 0.5),
    workers: whole('N', 'suites at a time', 2),
    seed: whole('N', "the first round's order of the suites; the next round adds 1", 1),
    inside: flag('shuffles the tests inside each suite too'),
  },
});
const { rounds, workers, cpu, seed: firstSeed } = values;

const root = path.resolve(import.meta.dirname, '../..');
const [pattern] = words;
const suites =
  pattern === undefined
    ? [...everFailed]
    : globSync('**/*.test.ts', {
        cwd: root,
        exclude: (name) => name.includes('node_modules') || name.startsWith('.'),
      }).filter((name) => new RegExp(pattern).test(name));
if (suites.length === 0) refuse(`no suite has a path that matches ${pattern}`);

const logs = path.join(root, '.local/stress');
rmSync(logs, { recursive: true, force: true });
mkdirSync(logs, { recursive: true });

let endSlowness = () => {};
/** Runs the suites once. Undefined if jest has written no result. */
const runOnce = async (seed: number, log: string): Promise<JestRun | undefined> => {
  const outputFile = log.replace(/\.log$/, '.json');
  const output = openSync(log, 'w');
  const child = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      path.join(root, 'node_modules/jest/bin/jest.js'),
      ...['--testSequencer', path.join(root, 'test/stress/shuffled.js'), '--maxWorkers', `${workers}`],
      ...['--json', '--outputFile', outputFile],
      ...(values.inside ? ['--randomize', '--seed', `${seed}`] : []),
      ...['--runTestsByPath', ...suites],
    ],
    { cwd: root, env: { ...process.env, STRESS_SEED: `${seed}` }, stdio: ['ignore', output, output] },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  endSlowness = slowDown(child.pid!, cpu);
  await exited;
  endSlowness();
  closeSync(output);
  try {
    return JSON.parse(readFileSync(outputFile, 'utf8')) as JestRun;
  } catch {
    return undefined;
  }
};
let interrupted = false;
process.on('SIGINT', () => {
  // Jest gets the signal of the terminal too, and must run to handle it.
  interrupted = true;
  endSlowness();
});

const results = nothingYet(suites);
console.log(`${suites.length} suites, ${rounds} rounds, ${cpu} cores`);
for (let round = 1; round <= rounds && !interrupted; round += 1) {
  const startedAt = performance.now();
  const log = path.join(logs, `round-${round}.log`);
  const run = await runOnce(firstSeed + round - 1, log);
  if (interrupted) break;
  const failed = addRound(results, run, { root, log: path.relative(root, log) });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const outcome = failed.length === 0 ? 'all passed' : `failed: ${failed.join(', ')}`;
  console.log(`round ${round} of ${rounds}, ${seconds} s: ${outcome}`);
}
console.log(`\n${table(results.values())}`);
process.exitCode = [...results.values()].some(({ failed }) => failed > 0) ? 1 : 0;
