import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { installTool } from './node-versions.ts';
import type { InstalledPackage } from './packages.ts';

const run = promisify(execFile);

type Ended = { code: number; stdout: string; stderr: string };

/** The first Node that a package claims, as `22.19.0`. */
export const firstNode = ({ installed }: InstalledPackage): string => {
  const { engines } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  return `${engines.node.slice('>='.length)}.0`;
};

/** Runs a file of an installed package on this version of Node. */
export const runOn = async (
  version: string,
  { installed, project }: InstalledPackage,
  file: string,
  args: readonly string[],
): Promise<Ended> => {
  const node = await installTool('node', version, 'node');
  return run(node, [path.join(installed, file), ...args], { cwd: project }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
};
