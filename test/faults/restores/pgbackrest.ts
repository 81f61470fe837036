import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Place, RestoreTool } from './archived-postgres.ts';

const run = promisify(execFile);
const STANZA = 'quittance';

/**
 * pgBackRest as a real installation uses it: an encrypted repository, an archive that it checks,
 * and restores to a point in time.
 * @param program 2.56 or later, which knows Postgres 18
 */
export const pgBackRest = (program: string): RestoreTool => {
  const fileOf = ({ archive }: Place) => path.join(archive, 'pgbackrest.conf');
  const command = (place: Place, ...words: string[]) => [
    `--config=${fileOf(place)}`,
    `--stanza=${STANZA}`,
    ...words,
  ];
  const call = async (place: Place, ...words: string[]) =>
    run(program, command(place, ...words), {
      ...place.owner,
      cwd: place.archive,
      env: { PGPASSWORD: place.password, PATH: process.env.PATH },
    });
  const configure = (place: Place) => {
    const { archive, dataDir, owner, port } = place;
    const folders = ['repo', 'log', 'lock', 'spool'].map((name) => path.join(archive, name));
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      if (owner) chownSync(folder, owner.uid, owner.gid);
    }
    const text = `[global]
repo1-path=${archive}/repo
repo1-retention-full=2
repo1-cipher-type=aes-256-cbc
repo1-cipher-pass=of-the-campaign
log-path=${archive}/log
lock-path=${archive}/lock
spool-path=${archive}/spool
log-level-console=error
start-fast=y
compress-type=zst
[${STANZA}]
pg1-path=${dataDir}
pg1-port=${port}
pg1-socket-path=127.0.0.1
pg1-user=postgres
`;
    writeFileSync(fileOf(place), text);
    if (owner) chownSync(fileOf(place), owner.uid, owner.gid);
  };
  let isCreated = false;
  return {
    settings: (place) => {
      configure(place);
      return {
        wal_level: 'replica',
        archive_mode: 'on',
        archive_command: `${program} ${command(place, 'archive-push', '%p').join(' ')}`,
      };
    },
    baseBackup: async (place) => {
      if (!isCreated) await call(place, 'stanza-create');
      isCreated = true;
      await call(place, 'backup', '--type=full');
    },
    restore: async (place, to) => {
      mkdirSync(place.dataDir, { mode: 0o700 });
      if (place.owner) chownSync(place.dataDir, place.owner.uid, place.owner.gid);
      await call(place, 'restore', '--type=time', `--target=${to}`, '--target-action=promote');
    },
  };
};
