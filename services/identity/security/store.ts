import { z } from 'zod';
import { SECURITY_EVENT_KINDS, type SecurityEventKind } from '../../../shared/contract/identity/security.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';

const kinds: ReadonlySet<string> = new Set(SECURITY_EVENT_KINDS);
export const isSecurityEvent = (kind: string): kind is SecurityEventKind => kinds.has(kind);

/**
 * Records an event for the owner of an account. Call it within the transaction that makes the
 * change. `details` are values that the owner knows and never a secret.
 */
export const insertSecurityEvent = (
  db: Db,
  {
    account_id,
    kind,
    details,
  }: { account_id: string; kind: SecurityEventKind; details: Record<string, string> },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into security_events (security_event_id, account_id, kind, details)
    values (${newId('sev')}, ${account_id}, ${kind}, ${JSON.stringify(details)}::jsonb)`);

const Row = z.object({
  security_event_id: z.string(),
  kind: z.enum(SECURITY_EVENT_KINDS),
  details: z.record(z.string(), z.string()),
  created_at: z.number(),
});

/** A page of the account's events, newest first, and one more. */
export const listSecurityEventRows = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly z.infer<typeof Row>[]> =>
  db.any(sql.type(Row)`
    select security_event_id, kind, details, created_at from security_events
    where account_id = ${account_id} ${pageBy('security_event_id', page)}`);

/** Deletes events that are older than a theft is investigated. */
export const purgeSecurityEvents = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    delete from security_events where created_at < app_now() - interval '90 days'`);

/** Deletes the events of an account. They have names that a person gave. */
export const deleteSecurityEventsOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from security_events where account_id = ${accountId}`);
