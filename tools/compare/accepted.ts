import { lineOf, type SurfaceChange } from './changes.ts';

/** Which major changes are allowed before the next release. */

const majorOf = (version: string): number => Number(version.split('.')[0]);

/**
 * What is wrong with the changes since a release: a major change needs a higher major version, or
 * its line in the list. A line without its change is wrong too, so that the list stays short.
 * @param accepted the text of accepted.txt: a line for each change, `#` begins a comment
 */
export const unaccepted = (
  changes: readonly SurfaceChange[],
  { accepted, versions }: { accepted: string; versions: { before: string; after: string } },
): string[] => {
  if (majorOf(versions.after) > majorOf(versions.before)) return [];
  const listed = accepted.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  // On the tag itself nothing has changed. The next commit empties the list.
  if (changes.length === 0) return [];
  const major = changes.filter((change) => change.class === 'major').map(lineOf);
  return [
    ...major
      .filter((line) => !listed.includes(line))
      .map(
        (line) =>
          `${line}\n  breaks what docs/versioning.md protects. Keep it, or accept it: add the line to tools/compare/accepted.txt, and a sentence to CHANGELOG.md`,
      ),
    ...listed
      .filter((line) => !major.includes(line))
      .map(
        (line) =>
          `${line}\n  is no major change since the last release: remove the line from tools/compare/accepted.txt`,
      ),
  ];
};
