// Builds the command into cli/dist: `node cli/build.ts`. With `--readme` it writes the reference of
// the commands into cli/README.md instead.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeGuard } from './node-guard.ts';

const root = import.meta.dirname;

if (process.argv.includes('--readme')) {
  const { withReference } = await import('./src/reference.ts');
  const file = path.join(root, 'README.md');
  writeFileSync(file, withReference(readFileSync(file, 'utf8')));
} else {
  const { build } = await import('esbuild');
  const dist = path.join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const { version, engines, dependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  ) as {
    version: string;
    engines: { node: string };
    dependencies: Record<string, string>;
  };
  await build({
    entryPoints: [path.join(root, 'src/main.ts')],
    outfile: path.join(dist, 'program.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    external: Object.keys(dependencies),
    define: { CLI_VERSION: JSON.stringify(version) },
    legalComments: 'none',
  });
  const command = path.join(dist, 'quittance.js');
  writeFileSync(command, nodeGuard('quittance', engines.node, 'program.js'));
  chmodSync(command, 0o755);
}
