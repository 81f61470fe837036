import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { apiParts } from './api.ts';
import { PARTS, type PartName, type Surface } from './surface.ts';

/** Where surfaces are: in this tree, in another commit, in a file. */

/** Of this repository. Tests have one of their own. */
const ROOT = path.resolve(import.meta.dirname, '../..');
const API_DOCUMENT = 'docs/openapi.json';
/** Everything but the API and its events, which the API document has. */
export const SURFACE_FILE = 'docs/surface.json';
const BASELINE = 'tools/compare/baseline.json';

const git = (root: string, ...args: string[]): string | null => {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return null;
  }
};
const readText = (root: string, file: string): string => readFileSync(path.resolve(root, file), 'utf8');

/** A release or another state to compare with. */
type Stored = { name: string; version: string; surface: Surface };

const surfaceOf = (document: string, rest: string | null): Surface => ({
  ...apiParts(JSON.parse(document)),
  ...(rest === null ? {} : (JSON.parse(rest) as Surface)),
});
const versionIn = (packageText: string): string => (JSON.parse(packageText) as { version: string }).version;

/** The surface of this tree, as the generated files have it. */
export const presentSurface = (root = ROOT): Stored => ({
  name: 'this tree',
  version: versionIn(readText(root, 'package.json')),
  surface: surfaceOf(readText(root, API_DOCUMENT), readText(root, SURFACE_FILE)),
});

/** The surface of a commit. Null: there is no such commit, or it has no API document. */
const committedSurface = (root: string, ref: string): Stored | null => {
  const document = git(root, 'show', `${ref}:${API_DOCUMENT}`);
  const packageText = git(root, 'show', `${ref}:package.json`);
  if (document === null || packageText === null) return null;
  return {
    name: ref,
    version: versionIn(packageText),
    surface: surfaceOf(document, git(root, 'show', `${ref}:${SURFACE_FILE}`)),
  };
};

const isFile = (file: string): boolean => existsSync(file) && statSync(file).isFile();
const readStored = (root: string, file: string): Stored => {
  const { version, ...surface } = JSON.parse(readText(root, file)) as Surface & { version: string };
  return { name: file, version, surface };
};

/**
 * What changes are judged against: the last tag of this branch, or before there is one the stored
 * baseline. Null: neither is there.
 */
export const lastRelease = (root = ROOT): Stored | null => {
  const tag = git(root, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')?.trim();
  if (tag !== undefined) return committedSurface(root, tag);
  return isFile(path.join(root, BASELINE)) ? readStored(root, BASELINE) : null;
};

/** @param named a tag, a commit, or a file as the baseline is one */
export const storedSurface = (named: string, root = ROOT): Stored | null =>
  isFile(path.resolve(root, named)) ? readStored(root, named) : committedSurface(root, named);

/** The parts that a state does not have, because its release did not write them. */
export const missingParts = ({ surface }: Stored): PartName[] =>
  PARTS.filter((part) => surface[part] === undefined);

/** JSON with a line for each entry and definition, so that a review sees what has changed. */
export const formatted = (surface: Surface, first: Record<string, string> = {}): string => {
  const lines = (record: object) =>
    Object.entries(record).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const block = (record: object) => `{\n${lines(record).join(',\n')}\n}`;
  const parts = Object.entries(surface).map(
    ([part, { entries, definitions }]) =>
      `${JSON.stringify(part)}:{"entries":${block(entries)},"definitions":${block(definitions)}}`,
  );
  return `{\n${[...lines(first), ...parts].join(',\n')}\n}\n`;
};
