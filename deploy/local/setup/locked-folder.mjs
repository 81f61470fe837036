// Installs the modules of a folder that has a lock file of its own, such as test/interop/x402:
//   node deploy/local/setup/locked-folder.mjs <folder>
// It takes a fraction of a second if nothing is missing, and the set-up of a command calls it too.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../servers/binaries.mjs';
import { exitOnSignals, installLocked } from './npm.mjs';
import { staged, whileClaimed } from './once.mjs';

/** Installs the modules of a folder. @throws if npm fails or the lock file has gaps */
export async function ensureLocked(place, say) {
  const folder = path.resolve(repositoryRoot, place);
  const modules = path.join(folder, 'node_modules');
  const lock = readFileSync(path.join(folder, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const stamp = path.join(modules, '.stamp');
  const isThere = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
  if (isThere()) return;
  // Test suites run at once. One of them installs, and the others wait for it.
  const local = path.join(repositoryRoot, '.local', `install-${path.basename(folder)}`);
  await whileClaimed(`${local}.claim`, say, async () => {
    if (isThere()) return;
    const startedAt = Date.now();
    await staged(local, (stage) =>
      install(stage, { folder, modules, packages: JSON.parse(lock).packages, hash }),
    );
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    say(`the modules of ${path.relative(repositoryRoot, folder)} are installed (${seconds} s)`);
  });
}

/** The modules get their place when all of them are there. */
async function install(stage, { folder, modules, packages, hash }) {
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(path.join(folder, file), path.join(stage, file));
  const own = Object.keys(packages).filter((at) => at !== '' && !at.includes('node_modules/'));
  for (const at of own) cpSync(path.join(folder, at), path.join(stage, at), { recursive: true });
  await installLocked(stage);
  writeFileSync(path.join(stage, 'node_modules/.stamp'), hash);
  rmSync(modules, { recursive: true, force: true });
  renameSync(path.join(stage, 'node_modules'), modules);
}

if (import.meta.main) {
  exitOnSignals();
  try {
    await ensureLocked(process.argv[2] ?? '', (line) => console.error(`set-up: ${line}`));
  } catch (error) {
    console.error(`set-up of ${process.argv[2]} failed: ${error.message}`);
    process.exit(1);
  }
}
