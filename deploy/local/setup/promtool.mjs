// promtool, for the unit tests of the alarms: without it that one test is skipped and says so.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

/**
 * Takes it out of Debian's package, which is not installed: that would start a server. Never fails.
 */
export function ensurePromtool(say) {
  if (findBinary('promtool') || !findBinary('apt-get') || !findBinary('dpkg-deb')) return;
  const folder = path.join(unpackedDir, 'promtool');
  try {
    say('taking promtool out of the Debian package prometheus');
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
    say('promtool could not be had; the unit tests of the alarms will be skipped');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
