import { mkdirSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from '../../deploy/local/processes/process-identity.ts';

const OURS = /^quittance-test-(\d+)$/;

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/**
 * The temporary folder of this run, its workers and all processes they start, through TMPDIR. It is
 * removed when the run ends, and by the next run when this one is killed. What suites have left in
 * it is printed: each removes its own.
 *
 * It is in the temporary folder of the machine, because a path of a Unix socket has at most 107
 * characters, and because Postgres runs as another user when root runs the tests.
 */
export const useTemporaryFolder = (): void => {
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
  process.on('exit', () => {
    const left = readdirSync(folder);
    remove(folder);
    if (left.length > 0) writeSync(1, `Left in the temporary folder: ${left.sort().join(', ')}\n`);
  });
};
