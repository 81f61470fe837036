// Every command of package.json (`node tools/run.mjs --help` lists them): installs what is missing,
// and becomes the program that tools/doors.mjs names. It runs on the Node of a fresh machine (20 or
// newer) before node_modules exists, so it imports nothing from there.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setUp } from '../deploy/local/setup.mjs';
import { refusalOfStart } from '../deploy/local/stack/state-format.mjs';
import { find } from './doors.mjs';

/** EX_USAGE of sysexits.h. */
const USAGE_ERROR = 64;
const root = path.resolve(import.meta.dirname, '..');

const { print, refuse, run } = find(process.argv.slice(2));
if (print !== undefined) console.log(print);
if (refuse !== undefined) {
  console.error(refuse);
  process.exitCode = USAGE_ERROR;
}
const otherState = run?.continues && refusalOfStart(root, run.args, process.env);
if (otherState) {
  console.error(otherState);
  process.exitCode = 1;
} else if (run !== undefined) {
  await setUp(run.setUp ?? {});
  become(
    path.join(root, 'node_modules/node/bin/node'),
    [...(run.node ?? []), '--disable-warning=ExperimentalWarning', path.join(root, run.program), ...run.args],
    { ...process.env, ...run.env },
  );
}

/** The program gets this process, so that the signals and the end of npm reach it. */
function become(file, args, env) {
  if (process.execve) {
    // It warns that it is experimental.
    process.removeAllListeners('warning');
    process.execve(file, [file, ...args], env);
  }
  // A Node before 22.15, and only at the first command: npm finds the installed one later.
  const child = spawn(file, args, { env, stdio: 'inherit' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.removeAllListeners(name).on(name, () => child.kill(name));
  child.once('exit', (code) => process.exit(code ?? 1));
}
