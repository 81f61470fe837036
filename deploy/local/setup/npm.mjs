// npm, as the set-up runs it. Node 20 runs this file too.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
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
export async function installLocked(folder) {
  assertComplete(path.join(folder, 'package-lock.json'));
  if ((await npm(['ci', ...quiet], folder)) !== 0)
    throw new Error('the node modules could not be installed; the messages of npm are above');
}

/** Writes what npm needs to install exactly these packages into a folder of the set-up. */
export function writeManifest(folder, manifest, packages) {
  const write = (file, value) => writeFileSync(path.join(folder, file), JSON.stringify(value, null, 2));
  const { name, version } = manifest;
  mkdirSync(folder, { recursive: true });
  write('package.json', manifest);
  write('package-lock.json', {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': manifest, ...packages },
  });
}

/** Ends this process at a signal by an exit, at which its npm ends too. */
export function exitOnSignals() {
  const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
  for (const [name, code] of Object.entries(codes)) process.once(name, () => process.exit(code));
}

/**
 * Runs npm inside npm, without the variables that describe the outer script. It ends with this
 * process.
 * @returns its exit code
 */
function npm(args, folder) {
  const outer = /^npm_(package_.*|lifecycle_.*|command|execpath)$/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
    const stop = () => child.kill();
    process.once('exit', stop);
    child.once('error', (error) => reject(new Error(`npm cannot be run: ${error.message}`)));
    child.once('close', (code) => {
      process.removeListener('exit', stop);
      resolve(code ?? 1);
    });
  });
}
