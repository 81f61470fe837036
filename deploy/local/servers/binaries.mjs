// Finds nats-server and redis-server for the set-up, which may install them, and for the start.
// Plain JavaScript, because the set-up runs before anything is installed, on any Node from 20.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** Debian packages that were unpacked for a user who may not install any. */
export const unpackedDir = path.join(repositoryRoot, '.local', 'packages');

/** Variables that name servers to use instead of starting our own. */
export const serverUrlVariables = {
  postgres: 'POSTGRES_URL',
  'nats-server': 'NATS_URL',
  'redis-server': 'REDIS_URL',
};

/** Debian installs nats-server in /usr/sbin, which is not in the PATH of a user. */
const furtherFolders = [
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  path.join(unpackedDir, 'usr/bin'),
  path.join(unpackedDir, 'usr/sbin'),
];

export function findBinary(name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...furtherFolders];
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The client may be installed without a running daemon, so only an answer counts. */
export function dockerAnswers() {
  const { status } = spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 10_000 });
  return status === 0;
}
