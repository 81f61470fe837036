import pg from 'pg';

/**
 * Runs work with the database's clock moved: app_now() adds the offset of a table that only tests create
 * (docs/settle.md, Time).
 */
export const withClock = async <T>(adminUrl: string, shift: string, work: () => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query('create table if not exists public.clock_offset (shift interval not null)');
    await client.query('grant select on public.clock_offset to public');
    await client.query('delete from public.clock_offset');
    await client.query('insert into public.clock_offset values ($1)', [shift]);
    return await work();
  } finally {
    await client.query('drop table if exists public.clock_offset');
    await client.end();
  }
};
