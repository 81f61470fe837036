// Builds the command and the exports into mcp/dist, with the sources of the SDK: `node
// mcp/build.ts`.
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';
import { nodeGuard } from '../cli/node-guard.ts';

const root = import.meta.dirname;
const dist = path.join(root, 'dist');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
  engines: { node: string };
  dependencies: Record<string, string>;
};
const command = path.join(dist, 'quittance-mcp.js');
const shared = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  external: Object.keys(manifest.dependencies),
  legalComments: 'none',
} as const;

rmSync(dist, { recursive: true, force: true });
await build({
  ...shared,
  entryPoints: [path.join(root, 'src/quittance-mcp.ts')],
  outfile: path.join(dist, 'program.js'),
  define: { MCP_VERSION: JSON.stringify(manifest.version) },
});
writeFileSync(command, nodeGuard('quittance-mcp', manifest.engines.node, 'program.js'));
chmodSync(command, 0o755);
await build({
  ...shared,
  entryPoints: [path.join(root, 'src/main.ts')],
  outfile: path.join(dist, 'main.js'),
});
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', root], { stdio: 'inherit' });
