// The built pages that the gateway serves: the console and the documentation. Each is built again
// if its sources have changed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../servers/binaries.mjs';
import { staged, whileClaimed } from './once.mjs';

/** What is built, each with its script and the files that it is made of. */
const BUILDS = [
  {
    name: 'console',
    dist: 'console/dist',
    script: 'console/build.ts',
    sources: ['console', 'sdk/src', 'gate/src'],
  },
  {
    name: 'documentation',
    dist: 'docs/site/dist',
    script: 'docs/site/build.ts',
    sources: [
      'docs',
      'sdk/README.md',
      'cli/README.md',
      'mcp/README.md',
      'gate/README.md',
      'CHANGELOG.md',
      'shared/contract/guides.ts',
      'shared/lib/local-api.ts',
      'shared/lib/money/fee.ts',
      'sdk/src/amounts.ts',
      'sdk/src/generated/usdc.ts',
      'console/src/icon.svg',
      'console/src/ui/fonts.css',
    ],
  },
];

/** @throws if a page cannot be built; the messages of the bundler are printed. */
export async function ensurePages(say) {
  for (const each of BUILDS) await ensureBuilt(each, say);
}

async function ensureBuilt({ name, dist, script, sources }, say) {
  const folder = path.join(repositoryRoot, dist);
  const stampFile = path.join(folder, '.stamp');
  const stamp = hashOfSources(sources, folder);
  const isBuilt = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (isBuilt()) return;
  const local = path.join(repositoryRoot, '.local', name);
  await whileClaimed(`${local}.claim`, say, async () => {
    if (isBuilt()) return;
    const startedAt = Date.now();
    say(`building the ${name}`);
    await staged(local, async (stage) => {
      await build(name, script, stage);
      writeFileSync(path.join(stage, '.stamp'), stamp);
      rmSync(folder, { recursive: true, force: true });
      renameSync(stage, folder);
    });
    say(`the ${name} is built (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  });
}

async function build(name, script, folder) {
  const node = path.join(repositoryRoot, 'node_modules/node/bin/node');
  const options = { cwd: repositoryRoot, stdio: ['ignore', 'inherit', 'inherit'] };
  const [status] = await once(spawn(node, [script, folder], options), 'close');
  if (status !== 0) throw new Error(`the ${name} could not be built; the messages are above`);
}

/** A hash of the sources, and of the lock file, which names the packages that build them. */
function hashOfSources(sources, dist) {
  const hash = createHash('sha256');
  const files = sources
    .flatMap((source) => filesOf(path.join(repositoryRoot, source)))
    .filter((file) => !file.startsWith(dist) && !/\.test\.ts$/.test(file));
  for (const file of files.sort())
    hash.update(path.relative(repositoryRoot, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.update(readFileSync(path.join(repositoryRoot, 'package-lock.json'))).digest('hex');
}

function filesOf(at) {
  if (!statSync(at).isDirectory()) return [at];
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}
