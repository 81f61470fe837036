import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.ts';

/**
 * The packages as they are published. All are packed and installed once for their content, into a
 * folder of this project that all suites and later runs use.
 */
const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../../..');
const NAMES = ['sdk', 'cli', 'mcp', 'gate'] as const;
type Name = (typeof NAMES)[number];

export type InstalledPackage = { project: string; installed: string; remove: () => void };
type Packages = {
  tarball: (name: Name) => string;
  /** The files of a package in a project where it is installed alone. */
  files: (name: Name) => string;
  /**
   * Copies that project outside of this tree, where nothing but the package and what it depends on
   * is found.
   */
  install: (name: Name) => InstalledPackage;
};

/** What the builds read besides: the gate has the stores that the examples show. */
const BESIDES = ['examples', 'shared/lib/chain/address.ts', 'tsconfig.json'];
/** What a build reads: the sources, and the versions of the tools. */
const FILES = [`{${NAMES.join(',')},examples}/**`, ...BESIDES, 'package-lock.json'];
/** Files of other builds, which would be incomplete while one runs. */
const isBuilt = (name: string): boolean => name === 'dist' || name === 'node_modules';

const contentHash = (): string => {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  const entries = globSync(FILES, { cwd: ROOT, withFileTypes: true, exclude: ({ name }) => isBuilt(name) });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => path.join(parentPath, name));
  for (const file of files.sort())
    hash.update(path.relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
};

/** Packs and installs in this folder, which gets another name afterwards. */
const make = async (folder: string): Promise<void> => {
  const env = { ...process.env, PATH: `${ROOT}/node_modules/.bin${path.delimiter}${process.env.PATH}` };
  const npm = (args: string[], cwd = folder) =>
    run('npm', [...args, '--no-audit', '--no-fund'], { cwd, env });
  const sources = path.join(folder, 'sources');
  for (const name of NAMES)
    cpSync(path.join(ROOT, name), path.join(sources, name), {
      recursive: true,
      filter: (file) => !isBuilt(path.basename(file)),
    });
  for (const each of BESIDES) cpSync(path.join(ROOT, each), path.join(sources, each), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(sources, 'node_modules'));
  for (const name of NAMES) await npm(['pack', path.join(sources, name), '--pack-destination', folder]);
  rmSync(sources, { recursive: true });
  // What the command depends on, from this tree: it is installed without a network.
  const ofCommand = Object.keys(
    (JSON.parse(readFileSync(path.join(ROOT, 'cli/package.json'), 'utf8')) as { dependencies: object })
      .dependencies,
  );
  for (const name of ofCommand)
    await npm(['pack', path.join(ROOT, 'node_modules', name), '--ignore-scripts']);

  const tarballs = globSync('*.tgz', { cwd: folder });
  const install = async (name: Name, more: string[], how: string) => {
    const project = path.join(folder, name);
    mkdirSync(project);
    writeFileSync(path.join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
    const own = [`quittance-${name}-`, ...more].map((start) =>
      tarballs.find((file) => file.startsWith(start)),
    );
    await npm(['install', how, ...own.map((file) => `../${file}`)], project);
  };
  await install('sdk', [], '--offline');
  await install(
    'cli',
    ofCommand.map((name) => `${name}-`),
    '--offline',
  );
  await Promise.all((['mcp', 'gate'] as const).map((name) => install(name, [], '--prefer-offline')));
};

let packed: Promise<Packages> | undefined;

const pack = async (): Promise<Packages> => {
  const folder = await madeOnce('packages', contentHash(), make);
  const place = (name: Name) => path.join('node_modules/@quittance', name);
  return {
    tarball: (name) => path.join(folder, globSync(`quittance-${name}-*.tgz`, { cwd: folder })[0]!),
    files: (name) => path.join(folder, name, place(name)),
    install: (name) => {
      const project = mkdtempSync(path.join(tmpdir(), `quittance-${name}-`));
      cpSync(path.join(folder, name), project, { recursive: true, verbatimSymlinks: true });
      return {
        project,
        installed: path.join(project, place(name)),
        remove: () => rmSync(project, { recursive: true, force: true }),
      };
    },
  };
};

/** Packs and installs the packages if no run has done it for this content. */
export const packages = (): Promise<Packages> => {
  packed ??= pack();
  return packed;
};
