// Installs the modules of a folder that has a lock file of its own, such as test/interop/x402:
//   node deploy/local/setup/locked-folder.mjs <folder>
// It takes a fraction of a second if nothing is missing.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../servers/binaries.mjs';
import { exitOnSignals, installLocked } from './npm.mjs';
import { staged, whileClaimed } from './once.mjs';

const say = (line) => console.log(`set-up: ${line}`);
const folder = path.resolve(process.argv[2] ?? '');
const modules = path.join(folder, 'node_modules');
const stampFile = path.join(modules, '.stamp');

exitOnSignals();
try {
  const lock = readFileSync(path.join(folder, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const isThere = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash;
  // Test suites run at once. One of them installs, and the others wait for it.
  const local = path.join(repositoryRoot, '.local', `install-${path.basename(folder)}`);
  if (!isThere())
    await whileClaimed(`${local}.claim`, say, async () => {
      if (!isThere()) await staged(local, (stage) => install(stage, JSON.parse(lock), hash));
    });
} catch (error) {
  console.error(`set-up of ${folder} failed: ${error.message}`);
  process.exit(1);
}

/** The modules get their place when all of them are there. */
async function install(stage, { packages }, hash) {
  const startedAt = Date.now();
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(path.join(folder, file), path.join(stage, file));
  const own = Object.keys(packages).filter((at) => at !== '' && !at.includes('node_modules/'));
  for (const at of own) cpSync(path.join(folder, at), path.join(stage, at), { recursive: true });
  await installLocked(stage);
  writeFileSync(path.join(stage, 'node_modules/.stamp'), hash);
  rmSync(modules, { recursive: true, force: true });
  renameSync(path.join(stage, 'node_modules'), modules);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  say(`the modules of ${path.relative(repositoryRoot, folder)} are installed (${seconds} s)`);
}
