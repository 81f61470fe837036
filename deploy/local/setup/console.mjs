// The built console, which the gateway serves. It is built again if its sources have changed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../servers/binaries.mjs';
import { staged, whileClaimed } from './once.mjs';

const dist = path.join(repositoryRoot, 'console/dist');
const stampFile = path.join(dist, '.stamp');

/** @throws if the console cannot be built; the messages of the bundler are printed. */
export async function ensureConsole(say) {
  const sources = hashOfSources();
  const isBuilt = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sources;
  if (isBuilt()) return;
  const local = path.join(repositoryRoot, '.local/console');
  await whileClaimed(`${local}.claim`, say, async () => {
    if (isBuilt()) return;
    const startedAt = Date.now();
    say('building the console');
    await staged(local, async (stage) => {
      await build(stage);
      writeFileSync(path.join(stage, '.stamp'), sources);
      rmSync(dist, { recursive: true, force: true });
      renameSync(stage, dist);
    });
    say(`the console is built (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  });
}

async function build(folder) {
  const node = path.join(repositoryRoot, 'node_modules/node/bin/node');
  const options = { cwd: repositoryRoot, stdio: ['ignore', 'inherit', 'inherit'] };
  const [status] = await once(spawn(node, ['console/build.ts', folder], options), 'close');
  if (status !== 0) throw new Error('the console could not be built; the messages are above');
}

/**
 * A hash of the console's files, the SDK that it uses, and the lock file, which names its packages.
 */
function hashOfSources() {
  const hash = createHash('sha256');
  for (const folder of ['console', 'sdk/src']) {
    const at = path.join(repositoryRoot, folder);
    const entries = readdirSync(at, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
      .filter((file) => !file.startsWith(dist) && !/\.test\.ts$/.test(file));
    for (const file of files.sort())
      hash.update(path.relative(repositoryRoot, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.update(readFileSync(path.join(repositoryRoot, 'package-lock.json'))).digest('hex');
}
