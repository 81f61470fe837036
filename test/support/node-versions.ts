import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.ts';

const run = promisify(execFile);

/**
 * A command of an npm package in this version. It is installed once, into a folder of this project.
 * A real Node comes from the package `node`.
 * @returns the path of the command
 */
export const installTool = async (name: string, version: string, command: string): Promise<string> => {
  const folder = await madeOnce(`tool-${name}`, version, async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], { cwd: target });
  });
  return path.join(folder, 'node_modules/.bin', command);
};
