import { z } from 'zod';
import type { OnrampProvider } from '../../../../shared/contract/funding/deposits.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import type { ReportedEvent } from '../model.ts';

/**
 * Inserts a report of a provider. A repeat of a report is not inserted again; it only adds an
 * amount that was missing.
 * @returns whether the report brought anything new
 */
export const insertReport = async (
  db: Db,
  row: {
    deposit_id: string;
    provider: OnrampProvider;
    transaction_id: string;
    provider_status: string;
    event: ReportedEvent;
    amount: bigint | null;
    tx_hash: string | null;
    source: 'webhook' | 'poll';
  },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    insert into deposit_reports
      (deposit_id, provider, transaction_id, provider_status, event, amount, tx_hash, source)
    values (${row.deposit_id}, ${row.provider}, ${row.transaction_id}, ${row.provider_status}, ${row.event},
      ${row.amount}, ${row.tx_hash}, ${row.source})
    on conflict (provider, transaction_id, provider_status, coalesce(tx_hash, ''))
    do update set amount = excluded.amount where deposit_reports.amount is null and excluded.amount is not null`);
  return rowCount > 0;
};

const Sent = z.object({ tx_hash: z.string(), amount: z.bigint() });

/**
 * The transactions that the provider reports as sent for a deposit, each with its expected amount.
 */
export const listSentTransactions = (db: Db, depositId: string): Promise<readonly z.infer<typeof Sent>[]> =>
  db.any(sql.type(Sent)`
    select distinct on (tx_hash) tx_hash, amount from deposit_reports
    where deposit_id = ${depositId} and event = 'sent' and tx_hash is not null and amount is not null
    order by tx_hash, report_id limit 10`);
