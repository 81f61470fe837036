import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from '../../../deploy/local/processes/process-identity.ts';

const OURS = /^quittance-test-(\d+)$/;

/** npm's configuration and cache, which a test may need to install something. */
const OF_NPM = ['.npmrc', '.npm'];

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** An empty home, so that no test reads or leaves a file of the user who runs it. */
const useEmptyHome = (folder: string): void => {
  const [before, home] = [homedir(), path.join(folder, 'home')];
  mkdirSync(home);
  for (const name of OF_NPM)
    if (existsSync(path.join(before, name))) symlinkSync(path.join(before, name), path.join(home, name));
  process.env.HOME = home;
};

/**
 * The temporary folder and the home of this run, its workers and all processes they start, through
 * TMPDIR and HOME. Both are removed when the run ends, and by the next run when this one is killed.
 * What suites have left in the temporary folder is printed: each removes its own.
 *
 * It is in the temporary folder of the machine, because a path of a Unix socket has at most 107
 * characters, and because Postgres runs as another user when root runs the tests.
 */
export const useEmptyFolders = (): void => {
  // A run of jest inside a test uses the folder of the test.
  if (OURS.test(path.basename(tmpdir()))) return;
  const parent = tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = Number(OURS.exec(name)?.[1]);
    if (pid && !identify(pid)) remove(path.join(parent, name));
  }
  const folder = path.join(parent, `quittance-test-${process.pid}`);
  remove(folder);
  mkdirSync(folder, { mode: 0o755 });
  process.env.TMPDIR = folder;
  useEmptyHome(folder);
  process.on('exit', () => {
    const left = readdirSync(folder).filter((name) => name !== 'home');
    remove(folder);
    if (left.length > 0) writeSync(1, `Left in the temporary folder: ${left.sort().join(', ')}\n`);
  });
};
