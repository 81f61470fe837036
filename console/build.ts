// Builds the console into console/dist, or into the folder that it is given, which the gateway
// serves unchanged: `node console/build.ts`. Set-up runs it when the sources have changed, the
// Dockerfile in a separate stage.
import { readdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

const root = import.meta.dirname;
const dist = path.resolve(process.argv[2] ?? path.join(root, 'dist'));

await build({
  root,
  configFile: false,
  base: '/console/',
  logLevel: 'warn',
  build: {
    outDir: dist,
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // As data: URLs they would need permission as scripts and styles.
    assetsInlineLimit: 0,
    // The preload script would be inline. Browsers that can run the console do not need it.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['index.html', 'pay.html', 'receipt.html'].map((page) => path.join(root, page)),
      // "use client" is for servers that render React. The console has none.
      onLog: (level, log, print) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') print(level, log);
      },
    },
  },
});

/** Compressed once at build time with the best level, not by every gateway that starts. */
const compress = async (file: string): Promise<void> => {
  const plain = await readFile(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await Promise.all([
    writeFile(`${file}.br`, await promisify(brotliCompress)(plain, quality)),
    writeFile(`${file}.gz`, await promisify(gzip)(plain, { level: 9 })),
  ]);
};
const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => path.join(dist, name));
await Promise.all(files.filter((file) => statSync(file).isFile()).map(compress));
