// npm, as the set-up runs it. Node 20 runs this file too.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { assertComplete } from './lock-file.mjs';

// The warnings concern the Node version, which is not the one that is used later, and peer
// dependencies.
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the modules of a folder by its lock file. It runs no install scripts: only `node` and
 * Postgres need theirs, and the other packages would compile optional extensions for 10 s if there
 * is a compiler.
 * @throws if the lock file has gaps, or if `npm ci` fails
 */
export function installLocked(folder) {
  assertComplete(path.join(folder, 'package-lock.json'));
  if (npm(['ci', ...quiet], folder) !== 0)
    throw new Error('the node modules could not be installed; the messages of npm are above');
}

/**
 * Runs npm inside npm, without the variables that describe the outer script.
 * @returns its exit code
 */
export function npm(args, folder) {
  const outer = /^npm_(package_.*|lifecycle_.*|command|execpath)$/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
  const { status, error } = spawnSync('npm', args, { cwd: folder, env, stdio: 'inherit' });
  if (error) throw new Error(`npm cannot be run: ${error.message}`);
  return status;
}
