import pg from 'pg';
import { z } from 'zod';
import { startServers } from '../../deploy/local/servers/start-servers.ts';
import { connectPool, sql } from '../../shared/db/pool.ts';
import { testStateDir } from '../../test/support/test-state.ts';
import { compare, type Side } from '../harness/rounds.ts';
import type { Benchmark } from '../harness/run.ts';
import { sampleOf } from '../harness/statistics.ts';

const AT_ONCE = 8;
const ROWS = 10_000;
/** A read with some columns and a condition, like most of ours. */
const select = sql.fragment`select id, name, amount, created_at, amount > 5 as large from bench.things
  where name is not null and created_at <= now() and id =`;
const Row = z.object({
  id: z.number(),
  name: z.string(),
  amount: z.bigint(),
  created_at: z.number(),
  large: z.boolean(),
});

/** Figures for docs/adr/0028: the cost that the pool adds to a statement. */
export const statement: Benchmark = {
  about: 'a read with our pool, against bare pg with the same statement prepared and not prepared',
  run: async (run) => {
    const servers = await startServers({ stateDir: testStateDir(`bench-${run.name}`) });
    run.defer(servers.stop);
    const bare = new pg.Pool({ connectionString: servers.postgresUrl, max: AT_ONCE });
    // Its connections end shortly after the pool, when the server may have stopped.
    bare.on('error', () => {});
    run.defer(() => bare.end());
    await bare.query(`create schema bench; create table bench.things (
      id int primary key, name text, amount bigint, created_at timestamptz default now())`);
    await bare.query(
      `insert into bench.things select i, 'thing ' || i, i from generate_series(1, ${ROWS}) as i`,
    );
    await bare.query('analyze bench.things');
    const pool = await connectPool(servers.postgresUrl, { max: AT_ONCE });
    run.defer(() => pool.end());

    const side = (name: string, work: (id: number) => Promise<unknown>): Side => ({
      name,
      round: async (seconds) => {
        const times: number[] = [];
        const startedAt = performance.now();
        const worker = async (first: number) => {
          for (let id = first; performance.now() < startedAt + seconds * 1000; id = (id + AT_ONCE) % ROWS) {
            const from = performance.now();
            await work(id + 1);
            times.push(performance.now() - from);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => worker(first)));
        return sampleOf(times, performance.now() - startedAt);
      },
    });
    const text = `${select.sql} $1`;
    await compare(run, `reads, ${AT_ONCE} at once`, [
      side('our pool', (id) => pool.one(sql.type(Row)`${select} ${id}`)),
      side('pg, prepared', (id) => bare.query({ name: 'lookup', text, values: [id] })),
      side('pg, not prepared', (id) => bare.query(text, [id])),
    ]);
  },
};
