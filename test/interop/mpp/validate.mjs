// The command `mppx validate` as a vendor calls it. It prints what the command has found, as one
// line.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { print, settings } from '../program.mjs';

/** `args`: of the command, for instance the URL of the vendor. */
const { args } = settings();
const dist = path.dirname(createRequire(import.meta.url).resolve('mppx'));
const command = [path.join(dist, 'bin.js'), 'validate', ...args, '--output-json'];
print({ ready: true });
execFile(process.execPath, command, (error, stdout, stderr) => {
  const found = stdout.slice(stdout.indexOf('{'));
  if (!found.startsWith('{')) throw error ?? new Error(`${stdout}${stderr}`);
  print({ index: 0, code: error?.code ?? 0, found: JSON.parse(found) });
});
