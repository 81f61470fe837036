// What a state folder of `npm start` was made by. Plain JavaScript without packages, because
// tools/run.mjs asks before it installs anything.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Increase it when a start cannot read what an earlier commit wrote into the state folder, besides
 * the tables: the owners of the tables, the chain's files, the streams of NATS, the seed.
 */
const FORMAT = 4;

/** What this commit writes: its migrations with their checksums (shared/db/checksums.ts). */
function formatOf(root, databases) {
  const text = readFileSync(path.join(root, 'shared/db/checksums.ts'), 'utf8');
  const lines = text.matchAll(/'([^']+\.sql)':\s*'([0-9a-f]{64})'/g);
  return {
    format: FORMAT,
    databases,
    migrations: Object.fromEntries([...lines].map(([, file, checksum]) => [file, checksum])),
  };
}

const fileIn = (stateDir) => path.join(stateDir, 'state-format.json');

/** What a folder with a database says; null: it is of a commit that wrote nothing. */
function recordIn(stateDir) {
  try {
    return JSON.parse(readFileSync(fileIn(stateDir), 'utf8'));
  } catch {
    return null;
  }
}

const hasDatabase = (stateDir) => existsSync(path.join(stateDir, 'postgres-password'));

/** Why this commit cannot continue a state folder, in one line that says what to do. */
export function refusalOf(stateDir, root) {
  if (!hasDatabase(stateDir)) return undefined;
  const own = formatOf(root, 1);
  const { format, migrations = {} } = recordIn(stateDir) ?? {};
  // The commit may have more. Those that ran already never run again, so they must be the same.
  const other = Object.keys(migrations).find((name) => own.migrations[name] !== migrations[name]);
  if (format === own.format && other === undefined) return undefined;
  const what = format === own.format ? `, with another ${other}` : '';
  return `The state in ${stateDir} is of another commit${what}, and cannot be used by this one: start that commit, or start without the state by npm start -- --fresh`;
}

/** The same for a command line of `npm start`, which may use no state or other servers. */
export function refusalOfStart(root, args, env) {
  const hasServers = Object.keys(env).some((name) => name.startsWith('POSTGRES_URL') && env[name]);
  if (hasServers || args.includes('--fresh') || args.includes('--help')) return undefined;
  return refusalOf(path.resolve(env.STATE_DIR || path.join(root, '.local')), root);
}

/**
 * Records the format of the state folder at its start.
 * @throws if the folder is of another format, or its records are on another number of servers
 */
export function checkStateFormat(stateDir, root, databases = 1) {
  const refusal = refusalOf(stateDir, root);
  if (refusal !== undefined) throw new Error(refusal);
  const before = recordIn(stateDir)?.databases;
  if (hasDatabase(stateDir) && before !== databases)
    throw new Error(
      `The state in ${stateDir} is of --databases ${before}: start with that, or start without the state by npm start -- --fresh`,
    );
  // A reader or a crash sees all of it or nothing.
  const file = fileIn(stateDir);
  writeFileSync(`${file}.new`, JSON.stringify(formatOf(root, databases), null, 2));
  renameSync(`${file}.new`, file);
}
