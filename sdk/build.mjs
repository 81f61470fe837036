// The last step of `npm run build`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const dist = new URL('dist/', import.meta.url);
writeFileSync(new URL('cjs/package.json', dist), '{ "type": "commonjs" }\n');
// The compiler leaves names of sources and generic arrays in declarations, where old versions of it
// do not accept them.
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.d.ts')) continue;
  const at = new URL(file.replaceAll('\\', '/'), dist);
  writeFileSync(
    at,
    readFileSync(at, 'utf8')
      .replace(/(['"]\.[^'"]*)\.ts(?=['"])/g, '$1.js')
      .replace(/Uint8Array<ArrayBuffer(Like)?>/g, 'Uint8Array'),
  );
}
