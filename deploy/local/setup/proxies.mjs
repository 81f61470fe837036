// Provides nginx, Caddy, HAProxy and Apache for the tests of examples/gate. Without them those
// tests are skipped with a message.
import { findBinary } from '../servers/binaries.mjs';
import { canExtract, extractPackages } from './debian-packages.mjs';

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
  if (PROGRAMS.every((name) => findBinary(name)) || !canExtract()) return;
  try {
    say(`extracting ${PROGRAMS.join(', ')} from the Debian packages`);
    extractPackages('proxies', [...PACKAGES, ...LIBRARIES], TIMEOUT_MS);
  } catch {
    say('nginx, Caddy, HAProxy and Apache are not available; the tests of a gate beside them are skipped');
  }
}
