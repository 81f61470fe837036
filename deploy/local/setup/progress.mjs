// What a long installation shows.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { packagesIn } from './packages.mjs';

const EVERY_MS = 5000;

/**
 * Says every few seconds how many packages npm has placed, for what it still works and how long.
 * @param work the folders where npm runs, by what it installs there
 * @returns what ends it
 */
export function progress(work, say) {
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const all = Object.entries(work).map(([what, folder]) => [what, path.join(folder, 'node_modules')]);
    const placed = all.reduce((sum, [, modules]) => sum + packagesAt(modules), 0);
    const open = all.filter(([, modules]) => packagesIn(modules) === undefined).map(([what]) => what);
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    say(`  ${seconds} s: ${placed} packages placed; waiting for ${open.join(', ') || 'npm to end'}`);
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** npm makes all folders first, and then fills them side by side. */
function packagesAt(modules) {
  return namesIn(modules)
    .flatMap((name) =>
      name.startsWith('@') ? namesIn(path.join(modules, name)).map((own) => `${name}/${own}`) : name,
    )
    .filter((name) => existsSync(path.join(modules, name, 'package.json'))).length;
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
