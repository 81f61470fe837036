// Provides Prometheus for `npm start -- --dashboards`, and promtool for the unit tests of the
// alarms. Without promtool that test is skipped with a message.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

const TIMEOUT_MS = 180_000;

/**
 * Extracts a program from the Debian package prometheus without installing it, because the
 * installation would start a server.
 * @returns whether the program is there
 */
function extract(program, say) {
  if (findBinary(program)) return true;
  if (!findBinary('apt-get') || !findBinary('dpkg-deb')) return false;
  const folder = path.join(unpackedDir, program);
  try {
    say(`extracting ${program} from the Debian package prometheus`);
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, stdio: 'ignore', timeout: TIMEOUT_MS };
    execFileSync('apt-get', ['-qq', 'download', 'prometheus'], options);
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', path.join(folder, file)], { maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', unpackedDir, `./usr/bin/${program}`], { input: tar });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Never fails. */
export function ensurePromtool(say) {
  const isThere = extract('promtool', say);
  if (!isThere && findBinary('apt-get'))
    say('promtool is not available; the unit tests of the alarms will be skipped');
}

/** @throws an error that says how to install it */
export function ensurePrometheus(say) {
  if (!extract('prometheus', say))
    throw new Error(
      '--dashboards needs Prometheus, which could not be fetched (Debian: apt-get install prometheus; macOS: brew install prometheus)',
    );
}
