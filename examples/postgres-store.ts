import type { PaywallStore } from '@quittance/sdk/vendor';
import type { Pool } from 'pg';

export const TABLE = `
create table if not exists paywall (
  key text primary key,
  value text not null,
  ends_at timestamptz not null
)`;

/**
 * The shared state of replicas, in Postgres. Rows past `ends_at` count as deleted. Delete them
 * periodically.
 */
export const postgresStore = (pool: Pool): PaywallStore => ({
  get: async (key) => {
    const { rows } = await pool.query('select value from paywall where key = $1 and ends_at > now()', [key]);
    return rows[0]?.value ?? null;
  },
  compareAndSet: async (key, expected, next, ttlMs) => {
    if (next === null) {
      const gone = await pool.query('delete from paywall where key = $1 and value = $2 and ends_at > now()', [
        key,
        expected,
      ]);
      return gone.rowCount === 1;
    }
    const written = await pool.query(
      expected === null
        ? `insert into paywall values ($1, $2, now() + $3 * interval '1 ms')
           on conflict (key) do update set value = excluded.value, ends_at = excluded.ends_at
           where paywall.ends_at <= now()`
        : `update paywall set value = $2, ends_at = now() + $3 * interval '1 ms'
           where key = $1 and value = $4 and ends_at > now()`,
      expected === null ? [key, next, ttlMs] : [key, next, ttlMs, expected],
    );
    return written.rowCount === 1;
  },
  take: async (counter, amount, entries) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      // The row of the number is locked first, so that others with the same entries wait here.
      const { rows } = await client.query(
        'select value::bigint as number from paywall where key = $1 and ends_at > now() for update',
        [counter],
      );
      const written = await client.query(
        `insert into paywall select key, value, now() + ttl_ms * interval '1 ms'
           from unnest($1::text[], $2::text[], $3::float[]) as entry (key, value, ttl_ms)
           on conflict (key) do update set value = excluded.value, ends_at = excluded.ends_at
           where paywall.ends_at <= now()`,
        [entries.map(({ key }) => key), entries.map(({ value }) => value), entries.map(({ ttlMs }) => ttlMs)],
      );
      const number = BigInt(rows[0]?.number ?? -1);
      const isEnough = number >= 0n && number >= amount;
      if (written.rowCount !== entries.length || !isEnough) {
        await client.query('rollback');
        return written.rowCount === entries.length ? 'empty' : 'held';
      }
      const left = number - amount;
      await client.query('update paywall set value = $2 where key = $1', [counter, left]);
      await client.query('commit');
      return left;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      client.release();
    }
  },
});
