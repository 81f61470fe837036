// Builds the command with the sources of the SDK:
//   node gate/build.ts                    into gate/dist, for the package
//   node gate/build.ts --image <folder>   with the packages too, for the image
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { nodeGuard } from '../cli/node-guard.ts';

const root = import.meta.dirname;
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  engines: { node: string };
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};
const shared = {
  entryPoints: { program: path.join(root, 'src/program/quittance-gate.ts') },
  bundle: true,
  // The drivers of stores are loaded only by those who use them.
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  legalComments: 'none',
} as const;

const [, , option, folder] = process.argv;
if (option === '--image' && folder !== undefined) {
  const { BANNER, copyLicences } = await import('../deploy/image/bundle.ts');
  const { metafile } = await build({
    ...shared,
    outdir: folder,
    absWorkingDir: path.resolve(root, '..'),
    // pg asks for it, and goes on without it.
    external: ['pg-native'],
    banner: { js: BANNER },
    metafile: true,
  });
  copyLicences(Object.keys(metafile.inputs), folder);
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
} else {
  const dist = path.join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  await build({
    ...shared,
    outdir: dist,
    external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  });
  const command = path.join(dist, 'quittance-gate.js');
  writeFileSync(command, nodeGuard('quittance-gate', manifest.engines.node, 'program.js'));
  chmodSync(command, 0o755);
}
