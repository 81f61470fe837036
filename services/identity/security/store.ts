import { z } from 'zod';
import type { Client } from '../../../shared/contract/client.ts';
import {
  SECURITY_EVENT_KINDS,
  type SecurityEventKind,
} from '../../../shared/contract/identity/security-kinds.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { clientOfCall } from '../../../shared/lib/call-client.ts';
import { newId } from '../../../shared/lib/id.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';

/**
 * Records an event for the owner of an account. Call it within the transaction that makes the
 * change. `details` are values that the owner knows and never a secret.
 * @param event.client from where it was done; default: from where the active call came
 * @param event.security_event_id of an event that another service has noted
 * @returns false if it was recorded before
 */
export const insertSecurityEvent = async (
  db: Db,
  {
    security_event_id = newId('sev'),
    account_id,
    kind,
    details,
    client = clientOfCall(),
  }: {
    security_event_id?: string | undefined;
    account_id: string;
    kind: SecurityEventKind;
    details: Record<string, string>;
    client?: Client | null | undefined;
  },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    insert into security_events (security_event_id, account_id, kind, details, address, agent)
    values (${security_event_id}, ${account_id}, ${kind}, ${JSON.stringify(details)}::jsonb,
      ${client?.address ?? null}, ${client?.agent ?? null})
    on conflict do nothing`);
  return rowCount === 1;
};

/**
 * Records the events that a statement computes: `source` has the columns `security_event_id`,
 * `account_id` and `details`. No call did them.
 */
export const insertSecurityEventsFrom = (kind: SecurityEventKind, source: ReturnType<typeof sql.fragment>) =>
  sql.fragment`
    insert into security_events (security_event_id, account_id, kind, details)
    select security_event_id, account_id, ${kind}, details from ${source}`;

const Row = z.object({
  security_event_id: z.string(),
  kind: z.enum(SECURITY_EVENT_KINDS),
  details: z.record(z.string(), z.string()),
  address: z.string().nullable(),
  agent: z.string().nullable(),
  created_at: z.number(),
});

/** A page of the account's events, newest first, and one more. */
export const listSecurityEventRows = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly z.infer<typeof Row>[]> =>
  db.any(sql.type(Row)`
    select security_event_id, kind, details, address, agent, created_at from security_events
    where account_id = ${account_id} ${pageBy('security_event_id', page)}`);

/** Deletes events that are older than a theft is investigated. */
export const purgeSecurityEvents = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    delete from security_events where created_at < app_now() - interval '90 days'`);

/** Removes the names of an account's services from the events of those who paid them first. */
export const eraseNamesOfServicesOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    update security_events set details = details - 'service' where kind = 'first_payment'
      and details ->> 'service_id' in (select service_id::text from services where account_id = ${accountId})`);

/** Deletes the events of an account. They have names that a person gave. */
export const deleteSecurityEventsOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from security_events where account_id = ${accountId}`);
