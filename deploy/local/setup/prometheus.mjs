// Provides promtool for the unit tests of the alarms. Without it that test is skipped with a
// message.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

/**
 * Extracts promtool from the Debian package without installing it, because the installation would
 * start a server. Never fails.
 */
export function ensurePromtool(say) {
  if (findBinary('promtool') || !findBinary('apt-get') || !findBinary('dpkg-deb')) return;
  const folder = path.join(unpackedDir, 'promtool');
  try {
    say('extracting promtool from the Debian package prometheus');
    mkdirSync(folder, { recursive: true });
    execFileSync('apt-get', ['-qq', 'download', 'prometheus'], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 60_000,
    });
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', path.join(folder, file)], { maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', unpackedDir, './usr/bin/promtool'], { input: tar });
  } catch {
    say('promtool is not available; the unit tests of the alarms will be skipped');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
