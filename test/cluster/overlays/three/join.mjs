// Runs before Postgres starts. A server without data becomes a standby of the present primary, as
// `pg_basebackup --write-recovery-conf` does, which not every image of Postgres contains. It never
// creates a database, because the Service may still select a server whose volume was lost.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pg = createRequire('/app/package.json')('pg');
const { PGDATA, PGPASSWORD, POD_NAME } = process.env;
const BLOCK = 512;

/** Writes the files of a tar archive below PGDATA, as its parts arrive. */
const unpacking = () => {
  let pending = Buffer.alloc(0);
  let file = null;
  let left = 0;
  let padding = 0;
  const text = (from, length) => pending.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  const begin = () => {
    const name = path.join(PGDATA, text(345, 155), text(0, 100));
    const type = text(156, 1);
    left = Number.parseInt(text(124, 12), 8) || 0;
    padding = (BLOCK - (left % BLOCK)) % BLOCK;
    const isEnd = text(0, 100) === '';
    pending = pending.subarray(BLOCK);
    if (isEnd) return;
    if (type === '5') fs.mkdirSync(name, { recursive: true, mode: 0o700 });
    else if (type === '0' || type === '') file = fs.openSync(name, 'w', 0o600);
    else throw new Error(`${name}: files of the type ${type} are not supported`);
  };
  return (part) => {
    pending = Buffer.concat([pending, part]);
    for (;;) {
      if (file !== null) {
        const written = fs.writeSync(file, pending.subarray(0, left));
        left -= written;
        pending = pending.subarray(written);
        if (left > 0) return;
        fs.closeSync(file);
        file = null;
      }
      if (pending.length < padding + BLOCK) return;
      pending = pending.subarray(padding);
      padding = 0;
      begin();
    }
  };
};

/**
 * The command BASE_BACKUP. Each part of its answer begins with a letter: n, a new archive; d, data.
 */
const baseBackup = (done, failed) => {
  let unpack = unpacking();
  let error = null;
  const ignore = () => {};
  return {
    submit: (connection) =>
      connection.query("BASE_BACKUP (LABEL 'join', CHECKPOINT 'fast', WAL true, MANIFEST 'no')"),
    handleRowDescription: ignore,
    handleDataRow: ignore,
    handleCommandComplete: ignore,
    handleCopyData: ({ chunk }) => {
      const kind = String.fromCharCode(chunk[0]);
      if (kind === 'n') unpack = unpacking();
      if (kind === 'd') unpack(chunk.subarray(1));
    },
    handleError: (reason) => {
      error = reason;
      failed(reason);
    },
    handleReadyForQuery: () => (error === null ? done() : undefined),
  };
};

const join = async () => {
  fs.rmSync(PGDATA, { recursive: true, force: true });
  fs.mkdirSync(PGDATA, { recursive: true, mode: 0o700 });
  const client = new pg.Client({
    host: 'postgres-rw',
    user: 'postgres',
    password: PGPASSWORD,
    replication: 'true',
    connectionTimeoutMillis: 3000,
  });
  await client.connect();
  await new Promise((done, failed) => {
    client.on('error', failed);
    client.query(baseBackup(done, failed));
  });
  await client.end();
  const primary = `host=postgres-rw user=postgres password=${PGPASSWORD} application_name=${POD_NAME}`;
  fs.appendFileSync(path.join(PGDATA, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
  fs.writeFileSync(path.join(PGDATA, 'standby.signal'), '');
};

// A copy that was interrupted begins again.
const begun = path.join(path.dirname(PGDATA), 'join-has-begun');
if (!fs.existsSync(path.join(PGDATA, 'PG_VERSION')) || fs.existsSync(begun)) {
  fs.mkdirSync(path.dirname(begun), { recursive: true });
  fs.writeFileSync(begun, '');
  for (let joined = false; !joined; ) {
    joined = await join().then(
      () => true,
      (error) => console.error(error.message),
    );
    if (!joined) await sleep(1000);
  }
  fs.rmSync(begun);
}
