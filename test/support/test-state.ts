import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { identify } from '../../deploy/local/processes/process-identity.ts';
import { outsideFolder } from '../../deploy/local/servers/postgres-server.ts';

const localDir = path.resolve(import.meta.dirname, '../../.local');

/**
 * Creates a state folder `.local/test-<name>-<pid>`. It stays after the run, for its logs. The
 * folders of earlier runs are removed.
 */
export function testStateDir(name: string): string {
  mkdirSync(localDir, { recursive: true });
  const ours = new RegExp(`^test-${name}-(\\d+)$`);
  for (const entry of readdirSync(localDir)) {
    const pid = Number(ours.exec(entry)?.[1]);
    if (pid && (pid === process.pid || !identify(pid))) removeStateDir(path.join(localDir, entry));
  }
  return path.join(localDir, `test-${name}-${process.pid}`);
}

/** Includes what Postgres stores outside of it. */
export function removeStateDir(stateDir: string): void {
  for (const folder of [stateDir, outsideFolder(stateDir)]) {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
