// `npm run prove -- compare`: what has changed for those who build on Quittance, and the number of
// the release that follows from it (docs/versioning.md).
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { flag, readCommandLine, refuse } from '../../deploy/local/processes/command-line.ts';
import { unaccepted } from './accepted.ts';
import { lineOf, strongestOf, surfaceChanges, wordOf } from './changes.ts';
import { formatted, lastRelease, missingParts, presentSurface, storedSurface } from './stored.ts';

const ACCEPTED = path.join(import.meta.dirname, 'accepted.txt');
const BASELINE = path.join(import.meta.dirname, 'baseline.json');

const { values, words } = readCommandLine({
  typed: 'npm run prove -- compare',
  words: '[TAG, COMMIT or FILE]',
  about: `Compares what others build on (API, events, SDK, command lines, tools of agents, settings, gate.yaml, metrics, messages
of the bus) with that of another state: by default the last tag, or before there is one tools/compare/baseline.json.
Prints a line for each change, and whether together they are none, minor or major (docs/versioning.md).`,
  options: {
    check: flag('ends with 1 for a major change that tools/compare/accepted.txt does not name'),
    baseline: flag('writes the present state as the baseline, before the first release'),
  },
  notes: 'The present state is that of the generated files: run npm run generate after a change.',
});

const present = presentSurface();
if (values.baseline) {
  writeFileSync(BASELINE, formatted(present.surface, { version: present.version }));
  process.exit(0);
}
const [named] = words;
const before = named === undefined ? lastRelease() : storedSurface(named);
if (before === null)
  refuse(
    named === undefined
      ? 'there is no tag v… and no baseline: fetch the tags (git fetch --tags), or write a baseline with --baseline'
      : `${named} is no tag, no commit with docs/openapi.json and no file`,
  );
const changes = surfaceChanges(before.surface, present.surface);
const missing = missingParts(before);
const bad = values.check
  ? unaccepted(changes, {
      accepted: readFileSync(ACCEPTED, 'utf8'),
      versions: { before: before.version, after: present.version },
    })
  : [];
if (values.check) for (const fault of bad) console.error(fault);
else {
  for (const change of changes)
    console.log(`${wordOf(change).padEnd('needs order'.length)}  ${lineOf(change)}`);
  if (missing.length > 0) console.log(`${before.name} does not have ${missing.join(', ')}: not compared`);
}
console.log(`${strongestOf(changes)}: ${changes.length} changes since ${before.name}`);
process.exitCode = bad.length === 0 ? 0 : 1;
