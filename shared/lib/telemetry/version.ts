import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What a process was built from: the version of package.json, and the commit if it is known. */
type Build = { version: string; commit: string };

/** Set in a bundle (deploy/image/bundle.ts), not where the sources run. */
declare const QUITTANCE_BUILD: Build | undefined;

/**
 * The build of the sources in a folder. An image is built without the history, so its build names
 * the commit.
 */
export const buildOf = (folder: string, commit?: string): Build => ({
  version: JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).version,
  commit: commit || 'unknown',
});

/** The build of this process. */
export const build: Build =
  typeof QUITTANCE_BUILD === 'undefined'
    ? buildOf(path.resolve(import.meta.dirname, '../../..'))
    : QUITTANCE_BUILD;

/** The build of this process as one word. */
export const buildName = `${build.version}+${build.commit}`;
