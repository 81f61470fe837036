// Builds the console into console/dist, which the gateway serves unchanged: `node
// console/build.ts`. Set-up runs it when the sources have changed, the Dockerfile in a separate
// stage.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const root = import.meta.dirname;
const dist = path.join(root, 'dist');

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
      // "use client" is for servers that render React. The console has none.
      onLog: (level, log, print) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') print(level, log);
      },
    },
  },
});

/** Compressed once at build time with the best level, not by every gateway that starts. */
const compress = (file: string): void => {
  const plain = readFileSync(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  writeFileSync(`${file}.br`, brotliCompressSync(plain, quality));
  writeFileSync(`${file}.gz`, gzipSync(plain, { level: 9 }));
};
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
  if (statSync(path.join(dist, name)).isFile()) compress(path.join(dist, name));
