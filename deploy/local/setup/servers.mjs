// Provides nats-server and redis-server: a URL in the environment, an existing binary, the package
// manager, Docker, or a message that names the package. Postgres is part of the node modules.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { dockerAnswers, findBinary, serverUrlVariables, unpackedDir } from '../servers/binaries.mjs';

const brewPackages = { 'nats-server': 'nats-server', 'redis-server': 'redis' };

/** @throws an error with the names of the packages if they are missing and cannot be installed. */
export async function ensureServers(say) {
  if (process.env.SERVERS === 'docker') {
    if (!dockerAnswers())
      throw new Error(
        'SERVERS=docker is set, but no Docker daemon answers `docker info`: start Docker or unset SERVERS',
      );
    return;
  }
  if (missing().length === 0) return;
  say(`not found on this machine: ${missing().join(', ')}`);
  for (const install of [withApt, unpackDebianPackages, withBrew]) {
    await install(missing(), say);
    if (missing().length === 0) return;
  }
  if (dockerAnswers()) return say(`Docker will run ${missing().join(' and ')}`);
  throw new Error(
    `${missing().join(' and ')} could not be installed. Install ${missing().join(' and ')} ` +
      `(Debian: apt-get install ${missing().join(' ')}; macOS: brew install ` +
      `${missing()
        .map((name) => brewPackages[name])
        .join(' ')}), start Docker, or set ` +
      `${missing()
        .map((name) => serverUrlVariables[name])
        .join(' and ')}.`,
  );
}

function missing() {
  return Object.keys(brewPackages).filter(
    (name) => !process.env[serverUrlVariables[name]] && !findBinary(name),
  );
}

async function withApt(names, say) {
  const prefix = rootPrefix();
  if (!has('apt-get') || !prefix) return;
  say(`installing ${names.join(' and ')} with apt-get`);
  const apt = (...args) => run([...prefix, 'apt-get', '-qq', ...args]);
  // The package may start its own server on 6379. Ours then uses another port.
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', ...names);
}

/** [] as root, ['sudo'] if sudo needs no password, undefined otherwise. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo'] : undefined;
}

async function unpackDebianPackages(names, say) {
  if (!has('apt-get') || !has('dpkg-deb')) return;
  say(`no right to install: downloading the Debian packages of ${names.join(' and ')} into .local/`);
  const downloads = path.join(unpackedDir, 'downloads');
  for (const folder of ['lists/partial', 'cache/archives/partial', 'downloads']) {
    mkdirSync(path.join(unpackedDir, folder), { recursive: true });
  }
  const apt = (...args) =>
    run(
      [
        'apt-get',
        '-qq',
        ...['-o', `Dir::State::lists=${unpackedDir}/lists`],
        ...['-o', `Dir::Cache=${unpackedDir}/cache`],
        ...['-o', 'Debug::NoLocking=1'],
        ...args,
      ],
      downloads,
    );
  await apt('update');
  // A simulated installation needs no rights and lists the missing libraries too.
  const plan = await apt('--simulate', '--no-install-recommends', 'install', ...names);
  const planned = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1]);
  // In some releases redis-server is only a link to a binary of redis-tools.
  const known = names.includes('redis-server') ? [...names, 'redis-tools'] : names;
  await apt('download', ...new Set([...known, ...planned]));
  for (const file of readdirSync(downloads).filter((name) => name.endsWith('.deb'))) {
    await run(['dpkg-deb', '-x', path.join(downloads, file), unpackedDir]);
  }
}

async function withBrew(names, say) {
  if (!has('brew')) return;
  say(`installing ${names.join(' and ')} with brew`);
  await run(['brew', 'install', ...names.map((name) => brewPackages[name])]);
}

function has(command) {
  return findBinary(command) !== undefined;
}

/** Runs the command, shows its messages and returns its output. */
function run([command, ...args], cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  // A command that cannot run has no output. What it should have installed is still missing.
  return new Promise((resolve) => {
    child.once('error', () => resolve(output)).once('close', () => resolve(output));
  });
}
