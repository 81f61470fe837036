import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const PACKAGE = 'node_modules/@quittance/sdk';

/**
 * Makes the SDK as it is published, once for all suites: packed, and installed without a network
 * into an empty project. The suites find the project through SDK_PROJECT.
 */
export const packSdk = async (project: string): Promise<void> => {
  mkdirSync(project, { recursive: true });
  const env = { ...process.env, PATH: `${ROOT}/node_modules/.bin${path.delimiter}${process.env.PATH}` };
  const npm = (args: string[]) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd: project, env });
  // From a copy: packing builds, and a build of someone else in the folder would be incomplete.
  const sources = mkdtempSync(path.join(tmpdir(), 'quittance-sdk-sources-'));
  cpSync(path.join(ROOT, 'tsconfig.json'), path.join(sources, 'tsconfig.json'));
  cpSync(path.join(ROOT, 'sdk'), path.join(sources, 'sdk'), {
    recursive: true,
    filter: (file) => !/\/(dist|node_modules)$/.test(file),
  });
  await npm(['pack', path.join(sources, 'sdk'), '--pack-destination', project]);
  rmSync(sources, { recursive: true, force: true });
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz'))!;
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  await npm(['install', '--offline', `./${tarball}`]);
  process.env.SDK_PROJECT = project;
};

const packedProject = (): string => {
  const { SDK_PROJECT } = process.env;
  if (SDK_PROJECT === undefined)
    throw new Error('The SDK could not be packed: the set-up printed the reason');
  return SDK_PROJECT;
};

/** The files of the published SDK. */
export const publishedSdk = (): string => path.join(packedProject(), PACKAGE);

/** A copy of the project outside of this tree, where nothing but the SDK is found. */
export const installSdk = () => {
  const project = mkdtempSync(path.join(tmpdir(), 'quittance-sdk-'));
  cpSync(packedProject(), project, { recursive: true });
  return {
    project,
    installed: path.join(project, PACKAGE),
    remove: () => rmSync(project, { recursive: true, force: true }),
  };
};
