import { z } from 'zod';
import type { Handler } from '../../../shared/contract/service.ts';
import type { webhook } from '../../../shared/contract/webhook.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { isDue } from '../deliveries/store.ts';

const Endpoint = z.object({
  endpoint_id: z.string(),
  account_id: z.string(),
  url: z.string(),
  failing_since: z.number().nullable(),
  disabled_reason: z.string().nullable(),
  due: z.bigint().transform(Number),
  oldest_due_at: z.number().nullable(),
});

/** What is due of one endpoint is counted up to this number. */
const COUNT_UP_TO = 10_000;

/** The endpoints that fail, those that fail longest first. The index has only them. */
const listFailing = (db: Db, limit: number) =>
  db.any(sql.type(Endpoint)`
    select endpoint_id, account_id, url, failing_since, disabled_reason, due, oldest_due_at
    from (select * from endpoints where failing_since is not null order by failing_since limit ${limit}) as endpoint
    cross join lateral (
      select count(*) as due, min(next_attempt_at) as oldest_due_at from (
        select next_attempt_at from deliveries
        where deliveries.endpoint_id = endpoint.endpoint_id and ${isDue} limit ${COUNT_UP_TO}
      ) as own
    ) as backlog
    order by failing_since`);

/** The endpoints that do not fail and have most deliveries that are due. */
const listBehind = (db: Db, limit: number) =>
  db.any(sql.type(Endpoint)`
    select endpoint_id, account_id, url, failing_since, disabled_reason, due, oldest_due_at
    from (
      select endpoint_id, count(*) as due, min(next_attempt_at) as oldest_due_at
      from (select endpoint_id, next_attempt_at from deliveries where ${isDue} limit ${COUNT_UP_TO}) as due
      group by endpoint_id
    ) as backlog join endpoints using (endpoint_id)
    where failing_since is null order by due desc limit ${limit}`);

/** The host alone: the rest of a URL may be a secret of its owner. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? 'unknown';

/** The endpoints that fail, and those with the largest backlog. */
export const listLateEndpoints =
  ({ pool }: { pool: Pool }): Handler<typeof webhook.internal.listLateEndpoints> =>
  async ({ limit }) => {
    const found = await Promise.all([listFailing(pool, limit), listBehind(pool, limit)]);
    return found.flat().map(({ url, failing_since, oldest_due_at, ...row }) => ({
      ...row,
      host: hostOf(url),
      failing_since: isoTimeOrNull(failing_since),
      oldest_due_at: oldest_due_at === null ? null : isoTime(oldest_due_at),
    }));
  };
