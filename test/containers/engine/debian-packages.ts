import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eachOf, run } from '../command.ts';

/** The release whose Docker has Compose 2.26. Its packages make whole root file systems. */
const RELEASE = 'trixie';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const DEFAULT_MIRROR = 'http://deb.debian.org/debian';

/** Neither an engine nor a server reads these. */
const LEFT_OUT = ['doc', 'man', 'locale', 'info', 'lintian', 'bug', 'bash-completion', 'i18n'];

export type Packages = {
  /** Unpacks packages and all that they depend on into an empty folder, without their scripts. */
  unpack: (names: readonly string[], root: string) => Promise<void>;
};

/** Why an engine cannot be unpacked and run on this machine, or null. */
export const whyNoPackages = (): string | null => {
  if (process.platform !== 'linux' || !existsSync('/etc/debian_version')) return 'this machine is not Debian';
  if (process.getuid?.() !== 0) return 'this user is not root';
  if (!existsSync(KEYRING)) return `the keys of Debian's archive are missing (${KEYRING})`;
  if (!existsSync('/dev/net/tun')) return 'the kernel offers no network devices for programs (/dev/net/tun)';
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', 'true'];
  return spawnSync('unshare', namespaces).status === 0 ? null : 'root may not create namespaces here';
};

/** Debian's archive cannot be reached, so nothing can be unpacked. */
export class ArchiveUnreachable extends Error {}

/** The mirror that this machine's apt uses for the main archive. */
export const mirrorOf = (targets: string): string =>
  targets
    .split('\n')
    .map((line) => line.split(' '))
    .find(([uri, component]) => component === 'main' && /\/debian\/?$/.test(uri!))?.[0] ?? DEFAULT_MIRROR;

/**
 * Debian's packages with lists of their own. apt's settings of this machine apply, its sources and
 * what it has installed do not. A package is found whether or not it is installed here.
 * @param folder for the lists and the downloaded packages
 */
export const debianPackages = async (folder: string): Promise<Packages> => {
  for (const each of ['lists/partial', 'cache']) mkdirSync(path.join(folder, each), { recursive: true });
  writeFileSync(path.join(folder, 'status'), '');
  const targets = execFileSync(
    'apt-get',
    ['indextargets', '--format', '$(REPO_URI) $(COMPONENT)', 'Created-By: Packages'],
    { encoding: 'utf8' },
  );
  const source = `deb [signed-by=${KEYRING}] ${mirrorOf(targets)} ${RELEASE} main\n`;
  writeFileSync(path.join(folder, 'sources.list'), source);
  const settings = [
    `Dir::State::lists=${folder}/lists`,
    `Dir::State::status=${folder}/status`,
    `Dir::Cache=${folder}/cache`,
    'Dir::Cache::pkgcache=pkgcache.bin',
    `Dir::Etc::sourcelist=${folder}/sources.list`,
    'Dir::Etc::sourceparts=-',
    'Dir::Etc::preferences=-',
    'Dir::Etc::preferencesparts=-',
    'APT::Sandbox::User=root',
    'APT::Install-Recommends=false',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
    'Debug::NoLocking=1',
  ].flatMap((each) => ['-o', each]);
  const apt = (...args: string[]) => run('apt-get', ['-qq', ...settings, ...args]);
  await apt('-o', 'APT::Update::Error-Mode=any', 'update').catch((error: Error) => {
    throw new ArchiveUnreachable(`Debian's archive cannot be read: ${error.message}`);
  });
  return {
    unpack: async (names, root) => {
      const archives = path.join(folder, `archives-${path.basename(root)}`);
      mkdirSync(path.join(archives, 'partial'), { recursive: true });
      mkdirSync(root, { recursive: true });
      await apt('-o', `Dir::Cache::archives=${archives}`, '--yes', '--download-only', 'install', ...names);
      await unpackAll(archives, root);
    },
  };
};

const unpackAll = async (archives: string, root: string): Promise<void> => {
  const files = readdirSync(archives)
    // The packages' scripts do not run, and Perl is for scripts.
    .filter((name) => name.endsWith('.deb') && !/^(lib)?perl|^debconf_|^ucf_/.test(name))
    .map((name) => path.join(archives, name));
  const excluded = LEFT_OUT.map((name) => `--exclude=./usr/share/${name}`).join(' ');
  const extract = `dpkg-deb --fsys-tarfile "$1" | tar --extract --directory "$2" ${excluded}`;
  const unpack = (file: string) => run('sh', ['-ec', extract, 'sh', file, root]);
  // It has the links from /bin and /lib into /usr.
  await eachOf(
    files.filter((file) => /\/base-files_/.test(file)),
    1,
    unpack,
  );
  await eachOf(
    files.filter((file) => !/\/base-files_/.test(file)),
    3,
    unpack,
  );
  // What the script of base-passwd would do.
  for (const name of ['passwd', 'group'])
    writeFileSync(
      path.join(root, 'etc', name),
      readFileSync(path.join(root, 'usr/share/base-passwd', `${name}.master`)),
    );
};
