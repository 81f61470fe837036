// Runs the rules of the tree in one process: node tools/check/rules.ts <folder> <test file …>.
// `npm test` runs the same files. Jest loads the compiler and the contract again for each of them,
// which is half of its time, so here `@jest/globals` is jest-globals.ts. The folder keeps the
// outlines of the sources, so that only changed ones are parsed again.
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadOutlines, saveOutlines } from '../../test/support/rules/outline.ts';

const GLOBALS = new URL('./jest-globals.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(specifier === '@jest/globals' ? GLOBALS : specifier, context),
});

const [folder, ...tests] = process.argv.slice(2) as [string, ...string[]];
const outlines = path.join(folder, 'outlines.json');
loadOutlines(outlines);
for (const file of tests) await import(pathToFileURL(path.resolve(file)).href);
const { runDeclared } = await import('./jest-globals.ts');
const { count, failed } = await runDeclared();
saveOutlines(outlines);
for (const { name, message } of failed) console.error(`${name}\n${message}\n`);
console.log(`${count - failed.length} of ${count} rules hold`);
process.exitCode = failed.length === 0 ? 0 : 1;
