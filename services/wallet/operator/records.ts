import { z } from 'zod';
import { type Pool, sql } from '../../../shared/db/pool.ts';
import { type AccountRecords, entry } from '../../../shared/operator/records.ts';

const Wallet = z.object({
  wallet_id: z.string(),
  kind: z.string(),
  public_key: z.string(),
  is_default: z.boolean(),
  created_at: z.number(),
  balance: z.bigint().nullable(),
  allowance: z.bigint().nullable(),
  delegation_status: z.string().nullable(),
  seen_at: z.number().nullable(),
});

/** The wallets of an account, with what the chain held when it was last read. */
export const listWalletRecords =
  (pool: Pool): AccountRecords =>
  async ({ account_id, limit }) => {
    const rows = await pool.any(sql.type(Wallet)`
      select wallet_id, kind, public_key, is_default, created_at, balance, allowance, delegation_status, seen_at
      from wallets left join snapshots using (wallet_id)
      where account_id = ${account_id} order by wallet_id desc limit ${limit}`);
    return rows.flatMap(({ wallet_id, created_at, seen_at, ...row }) => [
      ...entry(created_at, wallet_id, 'wallet', {
        kind: row.kind,
        owner: row.public_key,
        default: row.is_default,
      }),
      ...entry(seen_at, wallet_id, 'wallet on chain', {
        balance: row.balance,
        allowance: row.allowance,
        delegation: row.delegation_status,
      }),
    ]);
  };
