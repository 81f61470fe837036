import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { installTool } from '../test/support/packages/node-versions.ts';
import { NODES, TYPESCRIPTS } from '../test/support/packages/package-matrix.ts';
import { type InstalledPackage, packages } from '../test/support/packages/packages.ts';

/** The packed SDK in each form in which a project may load it. */
const run = promisify(execFile);
const ENTRIES = ['', '/pay', '/vendor', '/express', '/fastify', '/hono', '/next', '/x402', '/mpp'];

let sdk: InstalledPackage;
beforeAll(async () => {
  sdk = (await packages()).install('sdk');
}, 300_000);
afterAll(() => sdk?.remove());

const write = (name: string, text: string): string => {
  const file = path.join(sdk.project, name);
  writeFileSync(file, text);
  return file;
};

describe.each(NODES)('Node %s', (version) => {
  test('loads every entry by import and by require, and both forms share the payment of a request', async () => {
    const node = await installTool('node', version, 'node');
    const required = ENTRIES.map((entry) => `require('@quittance/sdk${entry}')`);
    const program = `
      const required = [${required.join(', ')}, require('@quittance/sdk/package.json')];
      (async () => {
        const imported = await Promise.all(${JSON.stringify(ENTRIES)}.map((entry) => import('@quittance/sdk' + entry)));
        const names = (each) => Object.keys(each).filter((name) => name !== 'default' && name !== 'module.exports').sort().join();
        const same = imported.every((each, at) => names(each) === names(required[at]) && names(each) !== '');
        console.log(JSON.stringify({ same, version: required.at(-1).version }));
      })();`;
    const { stdout } = await run(node, [write(`${version}.cjs`, program)]);
    expect(JSON.parse(stdout)).toEqual({ same: true, version: expect.any(String) });
  }, 300_000);
});

const FORMS = [
  ['commonjs', 'node10', 'use.cts'],
  ['node16', 'node16', 'use.cts'],
  ['node16', 'node16', 'use.mts'],
  ['esnext', 'bundler', 'use.ts'],
] as const;

/** TypeScript 6 is the last one that has the resolver node10, and asks for a word about it. */
const isOf = (version: string) => {
  const major = Number(version.split('.')[0]);
  return {
    forms: FORMS.filter(([, resolution]) => major < 7 || resolution !== 'node10'),
    options: major === 6 ? { ignoreDeprecations: '6.0' } : {},
  };
};

describe.each(TYPESCRIPTS)('TypeScript %s', (version) => {
  test.each(isOf(version).forms)(
    'module %s, resolution %s, %s: every entry has its types',
    async (module, moduleResolution, file) => {
      const tsc = await installTool('typescript', version, 'tsc');
      const imports = ENTRIES.map((entry, at) => `import * as m${at} from '@quittance/sdk${entry}';`);
      const used = `export const all = [${ENTRIES.map((_, at) => `m${at}`).join(', ')}];`;
      const typed = `
      const client = m0.createClient({ baseUrl: 'a', credential: 'b' });
      export const status = async (): Promise<string> => (await client.quote.get({ quote_id: 'q' })).status;
      // @ts-expect-error: types were found, so this is a fault
      export const wrong: number = m1.payingFetch;`;
      write(file, [...imports, used, typed].join('\n'));
      const lib = ['es2022', 'dom', 'dom.iterable'];
      const options = {
        ...isOf(version).options,
        noEmit: true,
        strict: true,
        target: 'es2022',
        lib,
        types: [],
        module,
        moduleResolution,
      };
      const compilerOptions = module === 'commonjs' ? { ...options, esModuleInterop: true } : options;
      const config = write('tsconfig.json', JSON.stringify({ compilerOptions, files: [file] }));
      const said = await run(tsc, ['-p', config]).then(
        () => '',
        ({ stdout }: { stdout: string }) => stdout,
      );
      expect(said).toBe('');
    },
    300_000,
  );
});

test('Jest of a CommonJS project loads it', async () => {
  write(
    'jest.config.cjs',
    'module.exports = { testRegex: "in-jest.cjs$", moduleFileExtensions: ["cjs", "js"] };',
  );
  write(
    'in-jest.cjs',
    `test('loads', () => { expect(typeof require('@quittance/sdk/pay').payingFetch).toBe('function'); });`,
  );
  const jest = path.resolve(import.meta.dirname, '../node_modules/jest/bin/jest.js');
  const { stderr } = await run(
    process.execPath,
    [jest, '--ci', '--cacheDirectory', '.jest', '--rootDir', sdk.project],
    {
      cwd: sdk.project,
    },
  );
  expect(stderr).toContain('1 passed');
});

test.each(['esm', 'cjs'] as const)(
  'esbuild bundles it for the form %s, and vite for browsers',
  async (format) => {
    const entry = write('entry.mjs', `export { payingFetch } from '@quittance/sdk/pay';`);
    const outfile = path.join(sdk.project, `out.${format === 'esm' ? 'mjs' : 'cjs'}`);
    await build({ entryPoints: [entry], bundle: true, format, platform: 'node', outfile });
    const loaded = format === 'esm' ? await import(outfile) : createRequire(outfile)(outfile);
    expect(typeof loaded.payingFetch).toBe('function');
    // In a process of its own, because its compiler refuses the objects of Jest's realm.
    const config = { logLevel: 'error', build: { lib: { entry, formats: ['es'], fileName: 'bundle' } } };
    const file = write('vite.config.mjs', `export default ${JSON.stringify(config)};`);
    const vite = path.resolve(import.meta.dirname, '../node_modules/vite/bin/vite.js');
    await run(process.execPath, [vite, 'build', '--config', file], { cwd: sdk.project });
  },
);
