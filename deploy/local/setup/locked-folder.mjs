// Installs the modules of a folder that has a lock file of its own, such as test/interop/x402:
//   node deploy/local/setup/locked-folder.mjs <folder>
// It takes a fraction of a second if nothing is missing.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../servers/binaries.mjs';
import { installLocked } from './npm.mjs';

const RETRY_MS = 100;
const say = (line) => console.log(`set-up: ${line}`);
const folder = path.resolve(process.argv[2] ?? '');
const stampFile = path.join(folder, 'node_modules/.stamp');
const claimFile = path.join(repositoryRoot, '.local', `install-${path.basename(folder)}.pid`);

try {
  const lock = readFileSync(path.join(folder, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  if (readOr(stampFile, '') !== hash) await install(hash);
} catch (error) {
  console.error(`set-up of ${folder} failed: ${error.message}`);
  process.exit(1);
}

/** Test suites run at once. One of them installs, and the others wait for it. */
async function install(hash) {
  mkdirSync(path.dirname(claimFile), { recursive: true });
  while (!claim()) await sleep(RETRY_MS);
  try {
    if (readOr(stampFile, '') === hash) return;
    const startedAt = Date.now();
    installLocked(folder);
    writeFileSync(stampFile, hash);
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    say(`the modules of ${path.relative(repositoryRoot, folder)} are installed (${seconds} s)`);
  } finally {
    rmSync(claimFile, { force: true });
  }
}

/** Whether this process may install. The claim of a process that was killed is removed. */
function claim() {
  try {
    writeFileSync(claimFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const holder = Number(readOr(claimFile, '0'));
    if (holder > 0 && !isRunning(holder)) rmSync(claimFile, { force: true });
    return false;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
