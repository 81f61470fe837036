// Extracts Debian packages without installing them, because an installation would start servers and
// needs root.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

/** Whether this machine can download and extract Debian packages. */
export const canExtract = () => Boolean(findBinary('apt-get') && findBinary('dpkg-deb'));

/**
 * Extracts packages into .local/packages. It throws if one is not available.
 * @param name of the folder for the downloads, which is removed
 */
export function extractPackages(name, packages, timeoutMs) {
  const folder = path.join(unpackedDir, name);
  try {
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, stdio: 'ignore', timeout: timeoutMs };
    execFileSync('apt-get', ['-qq', 'download', ...packages], options);
    for (const file of readdirSync(folder).filter((each) => each.endsWith('.deb')))
      execFileSync('dpkg-deb', ['-x', path.join(folder, file), unpackedDir]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
