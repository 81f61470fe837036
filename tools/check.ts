// `npm run check`: what every commit must satisfy, as many checks at a time as there are cores.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { flag, readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import { addCounts } from '../test/support/jest/last-line.ts';
import { changedFiles, filesToCheck, type Hashes, readTree } from './check/changes.ts';
import { type Check, checks } from './check/checks.ts';

const { values, words, usage } = readCommandLine({
  typed: 'npm run check',
  words: '[name …]',
  about: `Checks what every commit must satisfy: ${checks.map(({ name }) => name).join(', ')}.
With names, only the checks whose name contains one of them.`,
  options: { all: flag('repeats also the checks that passed before and whose files are the same') },
});
const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0) refuse(`no check is named ${words.join(', ')}\n\n${usage}`);

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, '.local/check');
const startedAt = performance.now();
const read = readTree(root);
const secondsSince = (start: number) => `${((performance.now() - start) / 1000).toFixed(1)} s`;

const keptOf = ({ name }: Check): string => path.join(folder, name.replaceAll(' ', '-'));
const stampOf = (check: Check): string => path.join(keptOf(check), 'passed.json');
/** What the check has read when it passed last. */
const passedFor = (check: Check): Hashes | undefined => {
  try {
    return JSON.parse(readFileSync(stampOf(check), 'utf8'));
  } catch {
    return undefined;
  }
};

/** Arguments of Node for a check, or null if it has passed for exactly these files. */
const commandOf = (check: Check, before: Hashes | undefined, now: Hashes): readonly string[] | null => {
  if (before !== undefined && changedFiles(before, now).length === 0) return null;
  const command = check.command(path.relative(root, keptOf(check)));
  if (check.byFile === undefined) return command;
  const files = before && filesToCheck(root, { before, now, settings: check.byFile.settings });
  if (files?.length === 0) return null;
  return [...command, ...(files ?? ['.'])];
};

/** Runs a check and prints its line, with its output if it fails. */
const made = async (check: Check): Promise<boolean> => {
  const start = performance.now();
  const reads = check.reads ?? ['.'];
  const now = read(reads);
  if (values.all) rmSync(keptOf(check), { recursive: true, force: true });
  mkdirSync(keptOf(check), { recursive: true });
  const command = commandOf(check, passedFor(check), now);
  if (command === null) {
    console.log(`ok      ${check.name}: nothing has changed`);
    return true;
  }
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'}  ${check.name} (${secondsSince(start)})`);
  if (code !== 0) console.log(output);
  // A file that changes meanwhile may have been read before or after.
  else if (changedFiles(now, readTree(root)(reads)).length === 0)
    writeFileSync(stampOf(check), JSON.stringify(now));
  return code === 0;
};

const open = [...chosen];
const failed: string[] = [];
const work = async (): Promise<void> => {
  for (let check = open.shift(); check !== undefined; check = open.shift())
    if (!(await made(check))) failed.push(check.name);
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
const outcome = failed.length === 0 ? 'all hold' : `failed: ${failed.join(', ')}`;
console.log(`${chosen.length} checks, ${secondsSince(startedAt)}: ${outcome}`);
addCounts({ passed: chosen.length - failed.length, failed: failed.length });
process.exitCode = failed.length === 0 ? 0 : 1;
