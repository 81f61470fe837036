import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');

/** `@quittance/mcp` as it is published: packed, and installed into an empty folder. */
export const packMcp = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-mcp-'));
  const sources = path.join(folder, 'sources');
  // From a copy, because packing builds, and two suites must not build in one folder.
  cpSync(path.join(ROOT, 'tsconfig.json'), path.join(sources, 'tsconfig.json'));
  for (const name of ['sdk', 'cli', 'mcp'])
    cpSync(path.join(ROOT, name), path.join(sources, name), {
      recursive: true,
      filter: (file) => !/\/(dist|node_modules)$/.test(file),
    });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(sources, 'node_modules'));
  await run('npm', ['pack', path.join(sources, 'mcp'), '--pack-destination', folder], { cwd: folder });
  const tarball = path.join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', '--prefix', folder, ...quiet, tarball], { cwd: folder });
  return {
    /** The command line of a host. The packages come from npm's cache if it has them. */
    npx: { command: 'npx', args: ['--yes', ...quiet, `--package=${tarball}`, 'quittance-mcp'] },
    /** The same without npx, which takes seconds and does not pass signals on. */
    installed: {
      command: process.execPath,
      args: [path.join(folder, 'node_modules/@quittance/mcp/dist/quittance-mcp.js')],
    },
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
