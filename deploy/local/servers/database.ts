import pg from 'pg';

/** The same server, another database. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** The same database as another user. */
export function urlAs(url: string, user: string, password: string): string {
  const result = new URL(url);
  result.username = encodeURIComponent(user);
  result.password = encodeURIComponent(password);
  return result.href;
}

/** Creates the database if it does not exist. `serverUrl` is a superuser's. */
export async function ensureDatabase(serverUrl: string, database: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}
