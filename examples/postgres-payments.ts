import { createHash } from 'node:crypto';
import type { PaymentStore } from '@quittance/sdk/pay';
import type { Pool } from 'pg';

// `json` keeps the text, because a payment repeats a vendor's offer unchanged. `jsonb` would not.
export const PAYMENTS_TABLE = `
create table if not exists payments (
  payer text not null,
  name text not null,
  id text not null,
  record json not null,
  sequence bigint generated always as identity,
  primary key (payer, name, id)
)`;

/** A name can contain a long address, and an index entry cannot. */
const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex');

/**
 * The payments of a buyer until their delivery, in Postgres. The rows give access to deliveries:
 * protect them like the delegate key.
 * @param payer names the delegate key, for instance its delegate id: one store for each key
 */
export const postgresPayments = (pool: Pool, payer: string): PaymentStore => ({
  load: async (name) => {
    const { rows } = await pool.query(
      'select record from payments where payer = $1 and name = $2 order by sequence',
      [payer, hashOf(name)],
    );
    return rows.map(({ record }) => record);
  },
  save: async (name, record) => {
    await pool.query(
      `insert into payments (payer, name, id, record) values ($1, $2, $3, $4)
       on conflict (payer, name, id) do update set record = excluded.record`,
      [payer, hashOf(name), record.id, JSON.stringify(record)],
    );
  },
  remove: async (name, id) => {
    await pool.query('delete from payments where payer = $1 and name = $2 and id = $3', [
      payer,
      hashOf(name),
      id,
    ]);
  },
});
