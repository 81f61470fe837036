// What a lock file must have. Plain JavaScript, because the set-up runs on any Node from 20 before
// anything is installed.
import { readFileSync } from 'node:fs';

/**
 * What is missing from a lock file: a line for each package without a checksum, or with the host
 * that it was fetched from.
 * @returns no line if npm compares every package that it fetches with the lock file
 */
export function gapsOf({ packages }) {
  return Object.entries(packages).flatMap(([at, { link, inBundle, integrity = '', resolved }]) => {
    // A link leads to a folder of the tree. A bundled package is inside another one, whose checksum
    // counts.
    if (!at.includes('node_modules/') || link || inBundle) return [];
    if (!integrity.startsWith('sha512-')) return [`${at} has no sha512 integrity`];
    return resolved === undefined ? [] : [`${at} names a registry (resolved)`];
  });
}

/** @throws if npm could install a package of this lock file without comparing its checksum */
export function assertComplete(file) {
  const gaps = gapsOf(JSON.parse(readFileSync(file, 'utf8')));
  if (gaps.length === 0) return;
  const others = gaps.length === 1 ? '' : ` and ${gaps.length - 1} more`;
  throw new Error(
    `the lock file ${file} is incomplete: ${gaps[0]}${others}; take the committed one (git checkout)`,
  );
}
