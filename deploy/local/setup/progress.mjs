// What a long installation shows.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const EVERY_MS = 5000;

/**
 * Says every few seconds how many packages npm has placed and how long it takes.
 * @param folders where npm runs
 * @returns what ends it
 */
export function progress(folders, say) {
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const placed = folders.reduce((sum, folder) => sum + packagesAt(path.join(folder, 'node_modules')), 0);
    say(`  ${Math.round((Date.now() - startedAt) / 1000)} s: ${placed} packages placed`);
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
