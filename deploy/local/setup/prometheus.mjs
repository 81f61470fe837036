// Provides Prometheus for `npm start -- --dashboards` and its tests, promtool for the unit tests of
// the alarms, and amtool for the routes of Alertmanager. Without them those tests are skipped with
// a message.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

/** Debian's packages with the programs in them. */
const PACKAGES = { prometheus: ['prometheus', 'promtool'], 'prometheus-alertmanager': ['amtool'] };
const TIMEOUT_MS = 180_000;

/**
 * Extracts the programs from Debian's packages without installing them, because the installation
 * would start servers. Never fails.
 */
export function extractPrometheus(say) {
  if (!findBinary('apt-get') || !findBinary('dpkg-deb')) return;
  for (const [name, programs] of Object.entries(PACKAGES))
    if (!programs.every((program) => findBinary(program))) extract(name, programs, say);
}

function extract(name, programs, say) {
  const folder = path.join(unpackedDir, name);
  try {
    say(`extracting ${programs.join(' and ')} from the Debian package ${name}`);
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, stdio: 'ignore', timeout: TIMEOUT_MS };
    execFileSync('apt-get', ['-qq', 'download', name], options);
    const [file] = readdirSync(folder).filter((each) => each.endsWith('.deb'));
    const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', path.join(folder, file)], { maxBuffer: 2 ** 30 });
    const members = programs.map((program) => `./usr/bin/${program}`);
    execFileSync('tar', ['-x', '-C', unpackedDir, ...members], { input: tar });
  } catch {
    say(`${programs.join(' and ')} ${programs.length === 1 ? 'is' : 'are'} not available`);
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
