// Provides SoftHSM, a PKCS#11 token in software, for the tests of keys on tokens. Without it those
// tests are skipped with a message.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

const packages = ['softhsm2', 'libsofthsm2'];

/** Extracts SoftHSM from the Debian packages without installing them. Never fails. */
export function ensureSofthsm(say) {
  if (findBinary('softhsm2-util') || !findBinary('apt-get') || !findBinary('dpkg-deb')) return;
  const folder = path.join(unpackedDir, 'softhsm');
  try {
    say(`extracting SoftHSM from the Debian packages ${packages.join(' and ')}`);
    mkdirSync(folder, { recursive: true });
    execFileSync('apt-get', ['-qq', 'download', ...packages], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 60_000,
    });
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
      execFileSync('dpkg-deb', ['-x', path.join(folder, file), unpackedDir]);
  } catch {
    say('SoftHSM is not available; the tests of keys on PKCS#11 tokens will be skipped');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
