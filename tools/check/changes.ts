// What has changed since a check passed, by the content of the files. Times of files are not asked:
// a file that was moved or restored has an old one.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The hash of each file by its path. A file that is deleted has none. */
export type Hashes = Readonly<Record<string, string>>;

/** Every check depends on them: the installed packages and this program. */
const COMMON = [
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
  'tools/check.ts',
];
const PROGRAM = 'tools/check/*.ts';

/** Reads each file at most once. @returns the hashes of the files of some patterns of git */
export const readTree = (root: string): ((patterns: readonly string[]) => Hashes) => {
  const known = new Map<string, string | undefined>();
  const hashOf = (file: string): string | undefined => {
    if (!known.has(file)) {
      let hash: string | undefined;
      try {
        hash = createHash('sha256')
          .update(readFileSync(path.join(root, file)))
          .digest('base64');
      } catch {
        // It is deleted, and git does not know yet.
      }
      known.set(file, hash);
    }
    return known.get(file);
  };
  const list = (patterns: readonly string[]) =>
    execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
      .split('\0')
      .filter(Boolean);
  const always = [...COMMON, ...list([PROGRAM])];
  return (patterns) => {
    const hashes: Record<string, string> = {};
    for (const file of [...always, ...list(patterns)]) {
      const hash = hashOf(file);
      if (hash !== undefined) hashes[file] = hash;
    }
    return hashes;
  };
};

/** The files that are new, different or deleted. */
export const changedFiles = (before: Hashes, now: Hashes): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((file) => before[file] !== now[file]);

/** The sources that import one of these files: a type of theirs is what a rule reads there. */
const importersOf = (root: string, changed: ReadonlySet<string>, files: readonly string[]): string[] =>
  files.filter((file) => {
    if (!/\.[mc]?[jt]sx?$/.test(file)) return false;
    const named = readFileSync(path.join(root, file), 'utf8').matchAll(/'(\.{1,2}\/[^'\n]+)'/g);
    return named.some(([, name]) => changed.has(path.posix.join(path.posix.dirname(file), name!)));
  });

/**
 * What a check by files has to read after a change: the changed files and what imports them.
 * @param settings files that decide about all others
 * @returns null: all files
 */
export const filesToCheck = (
  root: string,
  { before, now, settings }: { before: Hashes; now: Hashes; settings: readonly string[] },
): string[] | null => {
  const changed = new Set(changedFiles(before, now));
  const decides = (file: string) =>
    COMMON.includes(file) || settings.includes(file) || path.matchesGlob(file, PROGRAM);
  if ([...changed].some(decides)) return null;
  const files = Object.keys(now).filter((file) => !COMMON.includes(file));
  const importers = new Set(importersOf(root, changed, files));
  return files.filter((file) => changed.has(file) || importers.has(file));
};
