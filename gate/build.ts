// Builds the command into gate/dist, with the sources of the SDK: `node gate/build.ts`.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { nodeGuard } from '../cli/node-guard.ts';

const root = import.meta.dirname;
const dist = path.join(root, 'dist');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  engines: { node: string };
  dependencies: Record<string, string>;
};

rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: { program: path.join(root, 'src/quittance-gate.ts') },
  outdir: dist,
  bundle: true,
  // The drivers of stores are loaded only by those who use them.
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  external: Object.keys(manifest.dependencies),
  legalComments: 'none',
});
const command = path.join(dist, 'quittance-gate.js');
writeFileSync(command, nodeGuard('quittance-gate', manifest.engines.node, 'program.js'));
chmodSync(command, 0o755);
