import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import type { Databases } from '../db/databases.ts';
import { Refusal } from '../lib/refusal.ts';
import { dump, MANIFEST } from './dump.ts';

/**
 * The UTC time at which the copy began, without characters that a shell or a file system reserves.
 */
const COPY = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;
const PARTIAL = /^\.partial-/;
/** No dump takes so long, so what is older was left behind by a process that died. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

const nameAt = (at: Date): string =>
  at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');

/** The complete copies of a folder, the oldest first. */
const copiesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => COPY.test(name) && existsSync(path.join(folder, name, MANIFEST)))
    .sort();

/** Waits until the disk has the files, because the next step removes an older copy. */
const flush = (folder: string): void => {
  for (const place of [...readdirSync(folder).map((file) => path.join(folder, file)), folder]) {
    const file = openSync(place, 'r');
    fsyncSync(file);
    closeSync(file);
  }
};

const removeAbandoned = (folder: string): void => {
  for (const name of readdirSync(folder).filter((each) => PARTIAL.test(each))) {
    const place = path.join(folder, name);
    if (Date.now() - statSync(place).mtimeMs > ABANDONED_AFTER_MS) rmSync(place, { recursive: true });
  }
};

/**
 * Writes a copy of an environment's databases into a folder of copies. Older copies are removed
 * only after the new one is complete.
 * @param folder exists
 * @param keep the number of copies that remain, 1 or more
 * @returns the new copy's name, its rows, and the names of all copies, the oldest first
 */
export const addCopy = async (
  databases: Databases,
  folder: string,
  { keep, now = new Date() }: { keep: number; now?: Date },
): Promise<{ copy: string; taken_at: string; rows: number; copies: string[] }> => {
  removeAbandoned(folder);
  const copy = nameAt(now);
  const partial = path.join(folder, `.partial-${copy}`);
  try {
    const { taken_at, tables } = await dump(databases, partial);
    flush(partial);
    renameSync(partial, path.join(folder, copy));
    flush(folder);
    const copies = copiesIn(folder);
    for (const old of copies.slice(0, -keep)) rmSync(path.join(folder, old), { recursive: true });
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    return { copy, taken_at, rows, copies: copies.slice(-keep) };
  } catch (error) {
    // A full disk would stay full.
    if (!(error instanceof Refusal)) rmSync(partial, { recursive: true, force: true });
    throw error;
  }
};

/** The name of the newest copy. @throws Refusal if there is none */
export const newestCopy = (folder: string): string => {
  const newest = copiesIn(folder).at(-1);
  if (newest === undefined) throw new Refusal(`${folder} has no complete copy`);
  return newest;
};

/**
 * The folder of a copy.
 * @throws Refusal that names the copies that exist
 */
export const folderOfCopy = (folder: string, copy: string): string => {
  const copies = copiesIn(folder);
  if (copies.includes(copy)) return path.join(folder, copy);
  throw new Refusal(
    `${folder} has no complete copy "${copy}": name one of ${copies.join(', ') || '(there is none)'}`,
  );
};
