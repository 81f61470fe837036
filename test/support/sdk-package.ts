import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');

/** The SDK as it is published: packed, and installed without a network into an empty project. */
export const installSdk = async () => {
  const project = mkdtempSync(path.join(tmpdir(), 'quittance-sdk-'));
  const env = { ...process.env, PATH: `${ROOT}/node_modules/.bin${path.delimiter}${process.env.PATH}` };
  const npm = (args: string[]) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd: project, env });
  // From a copy: packing builds, and two suites that build in one folder would pack incomplete
  // files.
  const sources = mkdtempSync(path.join(tmpdir(), 'quittance-sdk-sources-'));
  cpSync(path.join(ROOT, 'tsconfig.json'), path.join(sources, 'tsconfig.json'));
  cpSync(path.join(ROOT, 'sdk'), path.join(sources, 'sdk'), {
    recursive: true,
    filter: (file) => !/\/(dist|node_modules)$/.test(file),
  });
  await npm(['pack', path.join(sources, 'sdk'), '--pack-destination', project]);
  rmSync(sources, { recursive: true, force: true });
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz'))!;
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  await npm(['install', '--offline', `./${tarball}`]);
  return {
    project,
    installed: path.join(project, 'node_modules/@quittance/sdk'),
    remove: () => rmSync(project, { recursive: true, force: true }),
  };
};
