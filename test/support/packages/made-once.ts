import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { ensureOnce } from '../../../deploy/local/setup/once.mjs';

const LOCAL = path.resolve(import.meta.dirname, '../../../.local');
const WEEK_MS = 7 * 86_400_000;

/**
 * A folder `.local/<name>-<version>` that all suites and later runs use, completely made or not
 * there. Folders of other versions go when no run has used them for a week.
 * @param fill writes into the empty folder that it is given, which then gets its name
 */
export const madeOnce = async (
  name: string,
  version: string,
  fill: (stage: string) => Promise<void>,
): Promise<string> => {
  const folder = path.join(LOCAL, `${name}-${version}`);
  await ensureOnce(folder, fill);
  const now = new Date();
  utimesSync(folder, now, now);
  for (const entry of readdirSync(LOCAL)) {
    const other = path.join(LOCAL, entry);
    const { mtimeMs = Date.now() } = statSync(other, { throwIfNoEntry: false }) ?? {};
    if (entry.startsWith(`${name}-`) && Date.now() - mtimeMs > WEEK_MS)
      rmSync(other, { recursive: true, force: true });
  }
  return folder;
};
