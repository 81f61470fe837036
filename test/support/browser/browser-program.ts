import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from '../packages/made-once.ts';

const MAIN = createRequire(import.meta.url).resolve('@sparticuz/chromium');
const UNPACK = `
  const { default: chromium } = await import(process.argv[1]);
  await chromium.executablePath();
`;

const MANIFEST = path.join(MAIN.replace(/(@sparticuz\/chromium)\/.*$/, '$1'), 'package.json');
const VERSION = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;

/**
 * The program of real Chromium, which is in an npm package. It is unpacked into a folder of this
 * project, with the libraries beside it. The package itself unpacks into the temporary folder of
 * the machine, where it takes a file for complete that another process is still writing.
 */
export const browserProgram = async (): Promise<string> => {
  const folder = await madeOnce('browser', VERSION, async (stage) => {
    const unpack = ['--input-type=module', '--eval', UNPACK, pathToFileURL(MAIN).href];
    const env = { ...process.env, TMPDIR: stage, TEMP: stage, TMP: stage };
    await promisify(execFile)(process.execPath, unpack, { env });
  });
  return path.join(folder, 'chromium');
};
