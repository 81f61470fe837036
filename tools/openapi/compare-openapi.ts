// `npm run ops -- compare-openapi`: what two API documents promise differently.
import { readFileSync } from 'node:fs';
import { readCommandLine, refuse } from '../../deploy/local/processes/command-line.ts';
import { differences } from './openapi-differences.ts';

const { words, usage } = readCommandLine({
  typed: 'npm run ops -- compare-openapi',
  words: 'OLD.json NEW.json',
  about: `Compares two API documents as their readers see them, with every reference replaced by what it names. Names of
components may differ. Prints every place that differs, and ends with 1 if there is one.`,
  options: {},
});
if (words.length !== 2) refuse(usage);
const [before, after] = words.map((file) => JSON.parse(readFileSync(file, 'utf8')));
const found = differences(before, after);
for (const { place, before: old, after: now } of found) {
  console.log(`${place}\n  - ${JSON.stringify(old)}\n  + ${JSON.stringify(now)}`);
}
console.log(found.length === 0 ? 'no differences' : `${found.length} differences`);
process.exitCode = found.length === 0 ? 0 : 1;
