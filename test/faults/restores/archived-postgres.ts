import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { postgresServer } from '../../../deploy/local/servers/postgres-server.ts';
import { waitFor } from '../../support/base/wait.ts';

const WITHIN_MS = 60_000;
/** The state of the process. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts'];

/** How a server is archived and restored. */
export type RestoreTool = {
  /** What `postgres` is started with. */
  settings: (place: Place) => Readonly<Record<string, string>>;
  baseBackup: (place: Place, query: Query) => Promise<void>;
  /** Fills the empty data folder, so that the next start ends at this time of the archive. */
  restore: (place: Place, to: string) => Promise<void>;
};
type Query = <Row extends pg.QueryResultRow>(sql: string) => Promise<Row[]>;
export type Place = {
  dataDir: string;
  /** Beside the data, and of the same user. */
  archive: string;
  base: string;
  owner: { uid: number; gid: number } | undefined;
  port: number;
  password: string;
};

const own = ({ owner }: Place, file: string) => {
  if (owner) chownSync(file, owner.uid, owner.gid);
};

/** What Postgres itself has for that: a base backup, the archived log, and a point in time. */
const postgresOwn: RestoreTool = {
  settings: ({ archive }) => ({
    wal_level: 'replica',
    archive_mode: 'on',
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
  }),
  baseBackup: async ({ dataDir, base, owner }, query) => {
    rmSync(base, { recursive: true, force: true });
    await query(`select pg_backup_start('base', true)`);
    execFileSync('cp', ['-Rp', dataDir, base], { ...owner, stdio: 'ignore' });
    const [label] = await query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    for (const name of NOT_COPIED) rmSync(path.join(base, name), { force: true });
    writeFileSync(path.join(base, 'backup_label'), label!.labelfile, { mode: 0o600 });
    if (owner) chownSync(path.join(base, 'backup_label'), owner.uid, owner.gid);
  },
  restore: async (place, to) => {
    const { dataDir, base, archive, owner } = place;
    execFileSync('cp', ['-Rp', base, dataDir], { ...owner });
    for (const name of readdirSync(path.join(dataDir, 'pg_wal')))
      rmSync(path.join(dataDir, 'pg_wal', name), { recursive: true });
    for (const name of ['archive_status', 'summaries']) {
      mkdirSync(path.join(dataDir, 'pg_wal', name), { mode: 0o700 });
      own(place, path.join(dataDir, 'pg_wal', name));
    }
    writeFileSync(path.join(dataDir, 'recovery.signal'), '', { mode: 0o600 });
    own(place, path.join(dataDir, 'recovery.signal'));
    appendFileSync(
      path.join(dataDir, 'postgresql.auto.conf'),
      `restore_command = 'cp ${archive}/%f %p'
recovery_target_time = '${to}'
recovery_target_action = 'promote'
`,
    );
  },
};

/**
 * A Postgres whose log is archived, and which can be restored to a moment, as a real installation
 * is. Its address stays the same.
 */
export const startArchivedPostgres = async (stateDir: string, tool: RestoreTool = postgresOwn) => {
  const port = await createPortPicker().any();
  const found = await postgresServer({ stateDir, port, durable: false });
  const { spec, url } = found;
  const folder = spec.cwd!;
  const owner = spec.uid === undefined ? undefined : { uid: spec.uid, gid: spec.gid! };
  const place: Place = {
    dataDir: path.join(folder, 'data'),
    archive: path.join(folder, 'archive'),
    base: path.join(folder, 'base'),
    owner,
    port,
    password: new URL(url).password,
  };
  for (const each of [place.archive]) {
    mkdirSync(each, { recursive: true });
    own(place, each);
  }
  const args = [
    ...spec.args,
    ...Object.entries(tool.settings(place)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  await spec.prepare?.();
  let child: ChildProcess | undefined;
  let output = '';
  const start = async () => {
    child = spawn(spec.command, args, { cwd: folder, ...owner, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
      });
    // A server that replays its log accepts readers before it accepts changes.
    await waitFor(
      () =>
        query<{ replays: boolean }>('select pg_is_in_recovery() as replays').then(
          ([row]) => row!.replays,
          () => true,
        ),
      (replays) => {
        if (child!.exitCode !== null) throw new Error(`postgres has ended: ${output}`);
        return !replays;
      },
      WITHIN_MS,
      50,
    );
  };
  const stop = async (signal: NodeJS.Signals = 'SIGINT') => {
    if (child === undefined || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child!.once('exit', resolve));
    child.kill(signal);
    await exited;
  };
  const inSession = async <T>(work: (query: Query) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    try {
      return await work(async (sql) => (await client.query(sql)).rows as never);
    } finally {
      await client.end();
    }
  };
  const query: Query = (sql) => inSession((each) => each(sql));
  await start();
  return {
    url,
    query,
    start,
    stop,
    baseBackup: () => inSession((each) => tool.baseBackup(place, each)),
    /** The time of the server, to which it can be restored. */
    now: async (): Promise<string> =>
      (await query<{ at: string }>(`select clock_timestamp()::text as at`))[0]!.at,
    /** Ends the server without a warning, and lets it continue from its archive at this time. */
    restoreTo: async (to: string): Promise<void> => {
      const [segment] = await query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
      await waitFor(
        () => query<{ name: string | null }>('select last_archived_wal as name from pg_stat_archiver'),
        ([archived]) => (archived?.name ?? '') >= segment!.name,
        WITHIN_MS,
        50,
      );
      await stop('SIGQUIT');
      rmSync(place.dataDir, { recursive: true });
      await tool.restore(place, to);
      await start();
    },
  };
};
export type ArchivedPostgres = Awaited<ReturnType<typeof startArchivedPostgres>>;
