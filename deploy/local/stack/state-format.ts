import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from '../processes/atomic-file.ts';

/**
 * Increase it when a start cannot read what an earlier commit wrote into the state folder, besides
 * the tables: the owners of the tables, the chain's files, the streams of NATS, the seed.
 */
const FORMAT = 3;

type StateFormat = { format: number; databases: number; migrations: Record<string, string> };

/** The state folder was written by a commit with other tables or files. */
export class OtherStateError extends Error {
  constructor(stateDir: string) {
    super(
      `The state in ${stateDir} is of another commit and cannot be used by this one: start that commit, or start without the state by npm start -- --fresh`,
    );
  }
}

/** The records of each service are on the server on which the state folder began. */
export class OtherDatabasesError extends Error {
  constructor(stateDir: string, databases: number) {
    super(
      `The state in ${stateDir} is of --databases ${databases}: start with that, or start without the state by npm start -- --fresh`,
    );
  }
}

/** Comments and layout do not count. */
const hashOf = (sql: string): string =>
  createHash('sha256').update(sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ')).digest('hex');

/** What this commit writes. */
const formatOf = (root: string, databases: number): StateFormat => ({
  format: FORMAT,
  databases,
  migrations: Object.fromEntries(
    globSync('{services,shared}/*/migrations/*.sql', { cwd: root })
      .sort()
      .map((file) => [file, hashOf(readFileSync(path.join(root, file), 'utf8'))]),
  ),
});

/**
 * Records the format of the state folder at its first start. A later commit may add migrations; one
 * that ran already runs never again, so it must be the same.
 *
 * @throws OtherStateError if the folder has a database of another format, or of an unknown one
 * @throws OtherDatabasesError if its records are on another number of servers
 */
export const checkStateFormat = (stateDir: string, root: string, databases = 1): void => {
  const file = path.join(stateDir, 'state-format.json');
  const own = formatOf(root, databases);
  if (existsSync(path.join(stateDir, 'postgres-password'))) {
    if (!existsSync(file)) throw new OtherStateError(stateDir);
    const { format, migrations, databases: before } = JSON.parse(readFileSync(file, 'utf8')) as StateFormat;
    const isSame = Object.entries(migrations).every(([name, hash]) => own.migrations[name] === hash);
    if (format !== own.format || !isSame) throw new OtherStateError(stateDir);
    if (before !== databases) throw new OtherDatabasesError(stateDir, before);
  }
  writeAtomically(file, JSON.stringify(own, null, 2));
};
