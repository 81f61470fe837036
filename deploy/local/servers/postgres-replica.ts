import { execFile } from 'node:child_process';
import { appendFileSync, chownSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/**
 * The user that a server runs as. Only root has to select one, because Postgres refuses to run as
 * root.
 */
export type Owner = { uid: number; gid: number };

/** The state of the process. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts'];

/**
 * Copies the files of a running server for a streaming replica, as pg_basebackup does, which the
 * package of the binaries lacks.
 * @param url the superuser's, of the server
 */
export const copyPrimary = async ({
  url,
  dataDir,
  folder,
  owner,
}: {
  url: string;
  dataDir: string;
  folder: string;
  owner: Owner | undefined;
}): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const slot = path.basename(folder).replaceAll('-', '_');
    await client.query(
      `select pg_create_physical_replication_slot($1, true)
       where not exists (select from pg_replication_slots where slot_name = $1)`,
      [slot],
    );
    const { rows: found } = await client.query<{ from: string }>(
      `select current_setting('data_directory') as from`,
    );
    const partial = `${dataDir}.partial`;
    rmSync(partial, { recursive: true, force: true });
    await client.query(`select pg_backup_start('replica', true)`);
    await run('cp', ['-Rp', found[0]!.from, partial], { ...owner, cwd: folder });
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    // The slots are of the primary's replicas.
    const slots = readdirSync(path.join(partial, 'pg_replslot')).map((name) =>
      path.join('pg_replslot', name),
    );
    for (const name of [...NOT_COPIED, ...slots])
      rmSync(path.join(partial, name), { recursive: true, force: true });
    const write = (name: string, text: string): void => {
      writeFileSync(path.join(partial, name), text, { mode: 0o600 });
      if (owner) chownSync(path.join(partial, name), owner.uid, owner.gid);
    };
    write('backup_label', rows[0]!.labelfile);
    write('standby.signal', '');
    const settings = { primary_conninfo: `'${url}'`, primary_slot_name: `'${slot}'` };
    appendFileSync(
      path.join(partial, 'postgresql.auto.conf'),
      Object.entries(settings)
        .map(([name, value]) => `${name} = ${value}\n`)
        .join(''),
    );
    rmSync(dataDir, { recursive: true, force: true });
    renameSync(partial, dataDir);
  } finally {
    await client.end();
  }
};
