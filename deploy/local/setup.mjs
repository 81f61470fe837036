// Runs before `npm start` and `npm test`. It installs what is missing, and takes a fraction of a
// second if nothing is missing. It runs on the Node of a fresh machine (20 or newer) before
// node_modules exists, so it imports nothing from there.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './servers/binaries.mjs';
import { ensureConsole } from './setup/console.mjs';
import { ensureNodeModules } from './setup/modules.mjs';
import { ensurePromtool } from './setup/promtool.mjs';
import { ensureServers } from './setup/servers.mjs';
import { ensureSofthsm } from './setup/softhsm.mjs';

const say = (line) => console.log(`set-up: ${line}`);

try {
  const lock = readFileSync(path.join(repositoryRoot, 'package-lock.json'));
  ensureNodeModules(createHash('sha256').update(lock).digest('hex'), say, {
    forStart: process.argv.includes('--start'),
  });
  if (!process.argv.includes('--no-servers')) {
    ensureServers(say);
    ensureConsole(say);
  }
  if (process.argv.includes('--promtool')) ensurePromtool(say);
  if (process.argv.includes('--softhsm')) ensureSofthsm(say);
} catch (error) {
  console.error(`set-up failed: ${error.message}`);
  process.exit(1);
}
