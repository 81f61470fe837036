import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.ts';

const run = promisify(execFile);

/**
 * A real Node of this version, from the npm package `node`. It is installed once, into a folder of
 * this project.
 * @returns the path of its binary
 */
export const installNode = async (version: string): Promise<string> => {
  const folder = await madeOnce('node', version, async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], { cwd: target });
  });
  return path.join(folder, 'node_modules/.bin/node');
};
