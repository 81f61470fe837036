import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { outlineOf, readText } from './outline.ts';

/**
 * The tree as the tidy tests judge it: sources, imports, declarations. Paths are relative to the
 * repository and use `/`. Every check returns a list of offences as text, so that a failing test
 * names each place.
 */

const root = process.cwd();
const posix = path.posix;

/** Every file of the repository in the folders that people write in, new files included. */
export const listFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
    .split('\n')
    .filter((file) =>
      /^(services|shared|deploy|test|tools|bench|sdk|examples|console|mcp|cli|gate|docs\/site)\//.test(file),
    )
    .filter((file) => existsSync(path.join(root, file)))
    .sort();

const isSource = (file: string): boolean => /\.(ts|tsx|mts)$/.test(file) && !/\.d\.m?ts$/.test(file);
const isGenerated = (file: string): boolean => file.includes('/generated/');
/** Examples and the pages of the docs site are read one by one. */
const isRoomFile = (file: string): boolean =>
  /\.(ts|tsx|mjs|js|css|lua|sql)$/.test(file) &&
  !/\.test\.tsx?$|\/generated\/|^examples\/|^docs\//.test(file);
const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);

const isRelative = (name: string) => name.startsWith('.');
const resolve = (file: string, name: string) => posix.join(posix.dirname(file), name);

const imported = new Map<string, string[]>();
/** Relative imports of a file, type-only ones included, as paths in the repository. */
const importsOf = (file: string): string[] => {
  const found =
    imported.get(file) ??
    outlineOf(file)
      .imports.filter(isRelative)
      .map((name) => resolve(file, name));
  imported.set(file, found);
  return found;
};

// ---------- import cycles ----------

/** Groups of nodes that reach each other (Tarjan's strongly connected components). */
const findCycles = (nodes: readonly string[], nextOf: (node: string) => readonly string[]): string[] => {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const cycles: string[] = [];
  const visit = (node: string) => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    stack.push(node);
    open.add(node);
    for (const next of nextOf(node)) {
      if (!index.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node)!, low.get(next)!));
      } else if (open.has(next)) low.set(node, Math.min(low.get(node)!, index.get(next)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const members = stack.splice(stack.indexOf(node));
    for (const member of members) open.delete(member);
    if (members.length > 1) cycles.push(members.sort().join(' ↔ '));
  };
  for (const node of nodes) if (!index.has(node)) visit(node);
  return cycles.toSorted((a, b) => a.localeCompare(b));
};

/** Groups of files that import each other in a circle. */
export const findImportCycles = (files: readonly string[]): string[] => {
  const known = new Set(files.filter(isSource));
  return findCycles([...known], (file) => importsOf(file).filter((name) => known.has(name)));
};

/** What has rooms in layers. A file beside the folders is a room of its own. */
const ROOMS =
  /^(?:services\/[^/]+|bench|tools|sdk\/src\/(?:paywall|pay)|sdk\/src|gate\/src|console\/src|cli\/src|mcp\/src|test\/support|deploy\/local)\/[^/]+/;
const roomOf = (file: string): string | undefined => ROOMS.exec(file)?.[0];

/**
 * Groups of folders of one service or package whose files import each other in a circle. Tests are
 * left out: they may use everything.
 */
export const findFolderCycles = (files: readonly string[]): string[] => {
  const next = new Map<string, Set<string>>();
  for (const file of files.filter((each) => isSource(each) && !isTest(each))) {
    const room = roomOf(file);
    if (room === undefined) continue;
    const rooms = next.get(room) ?? new Set();
    next.set(room, rooms);
    for (const each of importsOf(file).map(roomOf)) if (each !== undefined && each !== room) rooms.add(each);
  }
  return findCycles([...next.keys()], (room) => [...next.get(room)!].filter((each) => next.has(each)));
};

// ---------- names ----------

/** Splits `walletSightAt`, `wallet_sight_at` and `wallet-sight-at` into lower-case words. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+|\s/)
    .filter(Boolean)
    .map((word) => word.toLowerCase());

/** Declared identifiers, file names and words of SQL that hold a banned word. */
export const findBannedWords = (files: readonly string[], banned: RegExp, allowed: RegExp): string[] => {
  const known = new Map<string, boolean>();
  const isBad = (name: string): boolean => {
    const found = known.get(name) ?? (!allowed.test(name) && wordsOf(name).some((word) => banned.test(word)));
    known.set(name, found);
    return found;
  };
  return files.flatMap((file) => {
    const offences = isBad(posix.basename(file).replace(/\..*$/, '')) ? [`${file}: the file's name`] : [];
    if (isSource(file))
      for (const [name, line] of outlineOf(file).names)
        if (isBad(name)) offences.push(`${file}:${line}: ${name}`);
    if (file.endsWith('.sql'))
      for (const [index, text] of readText(file).split('\n').entries())
        for (const [name] of text.replace(/--.*/, '').matchAll(/[a-z_]+/gi))
          if (isBad(name)) offences.push(`${file}:${index + 1}: ${name}`);
    return offences;
  });
};

// ---------- layout ----------

/** Sources that lie flat in a service's folder besides its entry and its settings. */
export const findFlatFiles = (files: readonly string[]): string[] =>
  files.filter(
    (file) =>
      /^services\/[^/]+\/[^/]+\.(ts|mjs|lua)$/.test(file) &&
      !/\/(main|service|peers|terms|config)\.ts$/.test(file),
  );

/** Folders with too many sources to keep in view. Tests and generated files do not count. */
export const findFullFolders = (files: readonly string[], most: number): string[] =>
  [...Map.groupBy(files.filter(isRoomFile), (file) => posix.dirname(file))]
    .filter(([, own]) => own.length > most)
    .map(([folder, own]) => `${folder} (${own.length})`);

/** Folders with more than `most` sources and without a README. */
export const findUnexplainedFolders = (files: readonly string[], most: number): string[] =>
  findFullFolders(files, most).filter(
    (folder) => !files.includes(`${folder.replace(/ \(.*/, '')}/README.md`),
  );

/** Tests whose name does not begin with a file of their folder or with the folder's own name. */
export const findLoneTests = (files: readonly string[]): string[] => {
  const names = new Set(files);
  return files.filter((file) => {
    if (!isTest(file) || file.startsWith('test/')) return false;
    const folder = posix.dirname(file);
    const stem = posix.basename(file).split('.')[0]!;
    const subjects = ['ts', 'tsx', 'mjs', 'sql', 'lua', 'css', 'yaml'].map(
      (end) => `${folder}/${stem}.${end}`,
    );
    return posix.basename(folder) !== stem && !subjects.some((subject) => names.has(subject));
  });
};

/** Tables that more than one folder of a service writes. Their statements are found as text. */
export const findSharedTables = (files: readonly string[]): string[] => {
  const offences: string[] = [];
  for (const schema of files.filter((file) => /^services\/[^/]+\/schema\.sql$/.test(file))) {
    const service = posix.dirname(schema);
    const own = files.filter((file) => file.startsWith(`${service}/`) && isSource(file) && !isTest(file));
    for (const [, table] of readText(schema).matchAll(/^create table (?:\w+\.)?"?(\w+)"?/gim)) {
      const writes = new RegExp(`\\b(insert into|update|delete from)\\s+(?:\\w+\\.)?"?${table}"?\\b`, 'i');
      const folders = new Set(
        own.filter((file) => writes.test(readText(file))).map((file) => file.split('/')[2]!),
      );
      if (folders.size > 1)
        offences.push(`${service}: ${table} is written in ${[...folders].sort().join(', ')}`);
    }
  }
  return offences;
};

// ---------- exports ----------

/** Exported names that no other file imports. `entries` are files whose exports are for others. */
export const findDeadExports = (files: readonly string[], entries: RegExp): string[] => {
  const used = new Map<string, Set<string>>();
  const use = (file: string, name: string) => {
    if (!used.has(file)) used.set(file, new Set());
    used.get(file)!.add(name);
  };
  const sources = files.filter(isSource);
  for (const file of sources)
    for (const [from, name] of outlineOf(file).uses) if (isRelative(from)) use(resolve(file, from), name);
  return sources
    .filter((file) => !isTest(file) && !isGenerated(file) && !entries.test(file))
    .filter((file) => !used.get(file)?.has('*'))
    .flatMap((file) =>
      outlineOf(file)
        .exports.filter(([name]) => !used.get(file)?.has(name))
        .map(([name, line]) => `${file}:${line}: ${name}`),
    );
};

// ---------- comments and functions ----------

const MAX_COMMENT_WIDTH = 100;

/** Lines of comments that are wider than 100 characters, in TypeScript, JavaScript and SQL. */
export const findWideComments = (files: readonly string[]): string[] =>
  files
    .filter((file) => /\.(ts|tsx|mts|mjs|js|sql)$/.test(file) && !isGenerated(file))
    .flatMap((file) =>
      readText(file)
        .split('\n')
        .flatMap((line, index) => {
          const isComment = file.endsWith('.sql') ? /^\s*--/.test(line) : /^\s*(\/\/|\/\*|\*)/.test(line);
          return isComment && line.length > MAX_COMMENT_WIDTH ? [`${file}:${index + 1}: ${line.length}`] : [];
        }),
    );

/** Functions longer than `lines`: `file: name (lines)`. A test's own callbacks do not count. */
export const findLongFunctions = (files: readonly string[], lines: number): string[] =>
  files
    .filter((file) => isSource(file) && !isTest(file))
    .flatMap((file) =>
      outlineOf(file)
        .functions.filter(([, length]) => length > lines)
        .map(([name, length]) => `${file}: ${name} (${length})`),
    );

/**
 * A literal that is spread into another of its kind: `{ ...{ a, b } }`. A reader asks what it
 * overrides, and it overrides nothing.
 */
export const findSpreadLiterals = (files: readonly string[]): string[] =>
  files
    .filter((file) => isSource(file) && !isTest(file) && !isGenerated(file))
    .flatMap((file) => outlineOf(file).spreads.map((line) => `${file}:${line}`));

/** `await sleep(…)` of a test outside a loop: it waits for time instead of a condition. */
export const findFixedSleeps = (files: readonly string[]): string[] =>
  files
    .filter((file) => isSource(file) && isTest(file))
    .flatMap((file) => outlineOf(file).sleeps.map((line) => `${file}:${line}`));
