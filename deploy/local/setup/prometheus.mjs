// Provides Prometheus for `npm start -- --dashboards` and its tests, and promtool for the unit
// tests of the alarms. Without them those tests are skipped with a message.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

const PROGRAMS = ['prometheus', 'promtool'];
const TIMEOUT_MS = 180_000;

const isThere = () => PROGRAMS.every((name) => findBinary(name));

/**
 * Extracts the programs from the Debian package without installing it, because the installation
 * would start a server. Never fails.
 */
export function extractPrometheus(say) {
  if (isThere() || !findBinary('apt-get') || !findBinary('dpkg-deb')) return;
  const folder = path.join(unpackedDir, 'prometheus');
  try {
    say(`extracting ${PROGRAMS.join(' and ')} from the Debian package prometheus`);
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, stdio: 'ignore', timeout: TIMEOUT_MS };
    execFileSync('apt-get', ['-qq', 'download', 'prometheus'], options);
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', path.join(folder, file)], { maxBuffer: 2 ** 30 });
    const members = PROGRAMS.map((name) => `./usr/bin/${name}`);
    execFileSync('tar', ['-x', '-C', unpackedDir, ...members], { input: tar });
  } catch {
    say('prometheus and promtool are not available');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws an error that says how to install it */
export function ensurePrometheus(say) {
  if (findBinary('prometheus')) return;
  extractPrometheus(say);
  if (!findBinary('prometheus'))
    throw new Error(
      '--dashboards needs Prometheus, which could not be fetched (Debian: apt-get install prometheus; macOS: brew install prometheus)',
    );
}
