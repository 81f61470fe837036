// Provides the servers that test/interop/gate.servers.test.ts puts behind a gate: Hypercorn,
// gunicorn, PHP, Tomcat and Jetty, with a compiler for the last two, and Java where there is none.
// What is missing is left out there with a message.
import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';
import { canExtract, extractPackages } from './debian-packages.mjs';

const PYTHON = [
  ...['hypercorn', 'h2', 'hpack', 'hyperframe', 'priority', 'toml', 'wsproto'],
  ...['gunicorn', 'pkg-resources'],
].map((name) => `python3-${name}`);
const PHP = ['php8.2-cli', 'php8.2-fpm'];
/** What a small machine lacks of PHP's libraries. */
const PHP_LIBRARIES = ['libargon2-1', 'libedit2', 'libbsd0', 'libsodium23', 'libxml2', 'libicu72'];
const JAVA = ['libtomcat10-java', 'libjetty9-java', 'libservlet-api-java', 'libecj-java'];
const JRE = ['openjdk-17-jre-headless'];
const TIMEOUT_MS = 180_000;

const JVM = path.join(unpackedDir, 'usr/lib/jvm');

/** The settings of an unpacked Java are links into /etc, where nothing was installed. */
function relinkSettings() {
  for (const name of readdirSync(JVM, { recursive: true })) {
    const file = path.join(JVM, name);
    if (!lstatSync(file).isSymbolicLink()) continue;
    const target = readlinkSync(file);
    if (!target.startsWith('/etc/')) continue;
    rmSync(file);
    symlinkSync(path.join(unpackedDir, target), file);
  }
}

const isThere = (file) => ['/', unpackedDir].some((root) => existsSync(path.join(root, file)));

const GROUPS = [
  {
    name: 'Hypercorn and gunicorn',
    packages: PYTHON,
    isThere: () =>
      isThere('usr/lib/python3/dist-packages/hypercorn') && isThere('usr/lib/python3/dist-packages/gunicorn'),
  },
  {
    name: 'PHP',
    packages: [...PHP, ...PHP_LIBRARIES],
    isThere: () => Boolean((findBinary('php') ?? findBinary('php8.2')) && findBinary('php-fpm8.2')),
  },
  {
    name: 'Tomcat and Jetty',
    packages: JAVA,
    isThere: () =>
      ['tomcat10-catalina', 'jetty9-server', 'ecj'].every((jar) => isThere(`usr/share/java/${jar}.jar`)),
  },
  {
    name: 'Java',
    packages: JRE,
    isThere: () => Boolean(findBinary('java')) || existsSync(JVM),
    after: relinkSettings,
  },
];

/** Extracts them from Debian packages, because an installation would start them. Never fails. */
export function ensureUpstreams(say) {
  for (const group of GROUPS) {
    if (group.isThere() || !canExtract()) continue;
    try {
      say(`extracting ${group.name} from the Debian packages`);
      extractPackages('upstreams', group.packages, TIMEOUT_MS);
      group.after?.();
    } catch {
      say(`${group.name} is not available; the tests of a gate before it are skipped`);
    }
  }
}
