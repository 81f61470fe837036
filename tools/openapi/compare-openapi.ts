import { readFileSync } from 'node:fs';
import { differences } from './openapi-differences.ts';

/**
 * Compares two API documents as their readers see them, with every reference replaced by what it
 * names: `node tools/openapi/compare-openapi.ts OLD.json NEW.json`. Names of components may
 * differ. Prints
 * every place that differs, and exits 1 if there is one.
 */
const [before, after] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
if (before === undefined || after === undefined) {
  throw new Error('usage: node tools/openapi/compare-openapi.ts OLD.json NEW.json');
}
const found = differences(before, after);
for (const { place, before: old, after: now } of found) {
  console.log(`${place}\n  - ${JSON.stringify(old)}\n  + ${JSON.stringify(now)}`);
}
console.log(found.length === 0 ? 'no differences' : `${found.length} differences`);
process.exitCode = found.length === 0 ? 0 : 1;
