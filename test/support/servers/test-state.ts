import { existsSync, globSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { identify } from '../../../deploy/local/processes/process-identity.ts';
import { outsideFolder } from '../../../deploy/local/servers/postgres-server.ts';

const localDir = path.resolve(import.meta.dirname, '../../../.local');

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

const WEEK_MS = 7 * 86_400_000;

/** Node removes no compiled code. What is still needed is compiled again. */
export function removeOldCompiledCode(): void {
  for (const name of globSync('compile-cache/*/*', { cwd: localDir })) {
    const file = path.join(localDir, name);
    const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > WEEK_MS) rmSync(file, { force: true });
  }
}

/** Includes what Postgres stores outside of it. */
export function removeStateDir(stateDir: string): void {
  for (const folder of [stateDir, outsideFolder(stateDir)]) {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
