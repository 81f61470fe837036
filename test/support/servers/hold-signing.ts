import pg from 'pg';

/**
 * Lets chain-submitter commit no signed bytes in a database, while it accepts work and reads.
 * @returns ends this
 */
export const holdSigning = async (databaseUrl: string): Promise<() => Promise<void>> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin');
  const tables = ['transactions', 'outgoing_messages'].map((table) => `chain_submitter.${table}`);
  await client.query(`lock table ${tables.join(', ')} in exclusive mode`);
  return () => client.end();
};
