// npm, as the set-up runs it. Node 20 runs this file too.
import { spawnSync } from 'node:child_process';

// The warnings concern the Node version, which is not the one that is used later, and peer
// dependencies.
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the modules of a folder by its lock file. It runs no install scripts: only `node` and
 * Postgres need theirs, and the other packages would compile optional extensions for 10 s if there
 * is a compiler.
 * @throws if neither `npm ci` nor its fallback succeeds
 */
export function installLocked(folder, say) {
  if (npm(['ci', ...quiet], folder) === 0) return;
  // `npm ci` refuses a lock file in which an optional package of another platform is missing.
  // `npm install` does not, and it follows the lock file too.
  say('npm ci failed, trying npm install --no-save');
  if (npm(['install', '--no-save', ...quiet], folder) !== 0)
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
