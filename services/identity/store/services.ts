import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

const Row = z.object({
  service_id: z.string(),
  account_id: z.string(),
  name: z.string(),
  price: z.bigint(),
  payout_address: z.string(),
  redeem_window_seconds: z.number(),
  status: z.enum(['active', 'closing']),
  created_at: z.number(),
});
export type ServiceRow = z.infer<typeof Row>;

const columns = sql.fragment`service_id, account_id, name, price, payout_address, redeem_window_seconds, status,
  created_at`;

/** Writes a new service, active. `created_at` is epoch milliseconds. */
export const insertService = (db: Db, row: Omit<ServiceRow, 'status'>): Promise<ServiceRow> =>
  db.one(sql.type(Row)`
    insert into services (service_id, account_id, name, price, payout_address, redeem_window_seconds, created_at)
    values (${row.service_id}, ${row.account_id}, ${row.name}, ${row.price}, ${row.payout_address},
      ${row.redeem_window_seconds}, to_timestamp(${row.created_at}::float8 / 1000))
    returning ${columns}`);

/** The account's service, or null: another's does not exist for it. */
export const findOwnService = (db: Db, accountId: string, serviceId: string): Promise<ServiceRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from services where account_id = ${accountId} and service_id = ${serviceId}`);

/** Any account's service, for the services that serve its quotes. */
export const findAnyService = (db: Db, serviceId: string): Promise<ServiceRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from services where service_id = ${serviceId}`);

/** Where a page ends. A service id is a random UUID, so the time of creation orders the list. */
export type Place = { created_at: number; service_id: string };

/** The account's services before a place, newest first, `limit + 1` rows. */
export const listOwnServices = (
  db: Db,
  accountId: string,
  { before, limit }: { before: Place | null; limit: number },
): Promise<readonly ServiceRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from services
    where account_id = ${accountId}
      ${
        before === null
          ? sql.fragment``
          : sql.fragment`and (created_at, service_id)
              < (to_timestamp(${before.created_at}::float8 / 1000), ${before.service_id}::uuid)`
      }
    order by created_at desc, service_id desc limit ${limit + 1}`);
