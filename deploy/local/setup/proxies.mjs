// Provides nginx, Caddy, HAProxy and Apache for the tests of examples/gate. Without them those
// tests are skipped with a message.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';

const PROGRAMS = ['nginx', 'caddy', 'haproxy', 'apache2'];
const PACKAGES = ['nginx', 'caddy', 'haproxy', 'apache2-bin'];
/** What a small machine lacks of their libraries. */
const LIBRARIES = [
  ...['liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  ...['libapr1', 'libaprutil1', 'lua-socket'],
];
const TIMEOUT_MS = 180_000;

/** Extracts them from Debian packages, because an installation would start them. Never fails. */
export function ensureProxies(say) {
  const areThere = PROGRAMS.every((name) => findBinary(name));
  if (areThere || !findBinary('apt-get') || !findBinary('dpkg-deb')) return;
  const folder = path.join(unpackedDir, 'proxies');
  try {
    say(`extracting ${PROGRAMS.join(', ')} from the Debian packages`);
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, stdio: 'ignore', timeout: TIMEOUT_MS };
    execFileSync('apt-get', ['-qq', 'download', ...PACKAGES, ...LIBRARIES], options);
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
      execFileSync('dpkg-deb', ['-x', path.join(folder, file), unpackedDir]);
  } catch {
    say('nginx, Caddy, HAProxy and Apache are not available; the tests of a gate beside them are skipped');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
