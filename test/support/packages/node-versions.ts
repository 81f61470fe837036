import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.ts';

const run = promisify(execFile);

/**
 * npm packages in these versions. They are installed once, into a folder of this project that has
 * the name and version of the first one.
 * @returns the folder
 */
export const installPackages = (...packages: readonly [name: string, version: string][]): Promise<string> => {
  const [[name, version]] = packages as [[string, string]];
  return madeOnce(`tool-${name.replaceAll('/', '-')}`, version, async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{"private":true}');
    const wanted = packages.map((each) => each.join('@'));
    await run('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: target });
  });
};

/**
 * A command of an npm package in this version. A real Node comes from the package `node`.
 * @returns the path of the command
 */
export const installTool = async (name: string, version: string, command: string): Promise<string> =>
  path.join(await installPackages([name, version]), 'node_modules/.bin', command);
