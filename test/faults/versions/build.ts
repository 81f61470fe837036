import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { buildOptions, copyAssets } from '../../../deploy/image/bundle.ts';
import { CHECKSUMS_FILE, checksumsFile } from '../../../tools/checksums.ts';
import { MODULES, testPrograms } from '../../support/packages/programs.ts';
import { EDITS, type Edit, type Version } from './edits.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const SOURCES = ['services', 'shared', 'package.json', ...MODULES];

/** @throws if the tree has changed where the edit belongs */
const apply = (folder: string, edit: Edit): void => {
  const file = path.join(folder, edit.file);
  if ('text' in edit) {
    writeFileSync(file, edit.text);
    return;
  }
  const before = readFileSync(file, 'utf8');
  if (before.split(edit.from).length !== 2)
    throw new Error(
      `${edit.file} does not have this text once, so test/faults/versions/edits.ts is old: ${edit.from}`,
    );
  writeFileSync(
    file,
    before.replace(edit.from, () => edit.to),
  );
};

/**
 * Writes a version of this tree: copies of these files and folders, with the version's edits.
 * @throws if the tree has changed where an edit belongs
 */
export const writeVersion = (edits: readonly Edit[], folder: string, names: readonly string[]): void => {
  for (const name of names)
    cpSync(path.join(root, name), path.join(folder, name), {
      recursive: true,
      filter: (file) => !/\.test\.ts$|node_modules/.test(path.relative(root, file)),
    });
  for (const edit of edits) apply(folder, edit);
  writeFileSync(path.join(folder, CHECKSUMS_FILE), checksumsFile(folder));
};

/** Programs of this tree with edits. The folder is in the repository: packages are found. */
const buildEdited = async (edits: readonly Edit[], folder: string): Promise<void> => {
  const sources = path.join(folder, 'sources');
  writeVersion(edits, sources, SOURCES);
  await build(buildOptions(folder, MODULES, sources));
  copyAssets(folder);
  copyAssets(folder, sources);
  rmSync(sources, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
};

/**
 * The programs of a version. They are built once for a build of this tree.
 * @returns their folder
 */
export const programsOf = async (version: Version): Promise<string> => {
  const own = await testPrograms();
  if (version === 'this') return own;
  const edits = EDITS[version];
  const hash = createHash('sha256').update(JSON.stringify(edits)).digest('hex').slice(0, 8);
  const folder = path.join(path.dirname(own), `${path.basename(own)}-${hash}`);
  if (existsSync(folder)) return folder;
  const making = `${folder}-${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  await buildEdited(edits, making);
  renameSync(making, folder);
  return folder;
};
