import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { quoteOf, settleWith, type Vendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { privateKeyFromSeed } from '../../shared/lib/chain/ed25519.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { newId } from '../../shared/lib/id.ts';
import { signToken } from '../../shared/lib/tokens/compact-token.ts';
import { byteaText, packToken, tokenHash } from '../../shared/lib/tokens/packed-token.ts';
import { type Payer, PRICE_MICRO } from './actors.ts';
import { settled } from './counters.ts';
import type { BenchStack } from './stack.ts';

/** A settlement that a vendor can redeem. */
export type Issued = { settlement_id: string; settlement_token: string };

const DAY_MS = 86_400_000;

/**
 * A real payment through the API, whose rows are the templates of the copies once it is final.
 * Returns the ids that it created.
 */
export const templatePayment = async (
  bench: BenchStack,
  vendor: Vendor,
  payer: Payer,
): Promise<{ quoteId: string; settlementId: string; settlementToken: string }> => {
  const quote = await quoteOf(bench.api, vendor);
  const paid = await must(settleWith(bench.api, await payer.token(), quote), 'settle');
  if (paid.status !== 'confirmed') throw new Error('the first payment was not confirmed in time');
  await settled(bench);
  return {
    quoteId: quote.quote_id,
    settlementId: paid.settlement_id,
    settlementToken: paid.settlement_token,
  };
};

/** The wallet service receives the event of a payment shortly after the caller's answer. */
export const projected = async ({ db }: BenchStack, settlementId: string): Promise<void> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const { rowCount } = await db.query(
      'select from wallet.transactions where object_id = $1 and created_at is not null',
      [settlementId],
    );
    if (rowCount === 1) return;
    await sleep(50);
  }
  throw new Error('the payment did not appear in the list of transactions');
};

/** The columns of a table that an INSERT names, in their order: all but the generated ones. */
export const writtenColumns = async (
  db: Pick<pg.Pool, 'query'>,
  table: string,
): Promise<{ name: string; type: string }[]> => {
  const { rows } = await db.query<{ name: string; type: string }>(
    `select quote_ident(attname) as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  );
  return rows;
};

/**
 * Copies a settlement into issued settlements with their own tokens, because that many payments
 * would take too long between two rounds. The rows are like real ones, and their tokens are signed
 * with the stack's key.
 * @param units the prepaid units of each; null: none
 */
export const insertIssued = async (
  { db, stateDir }: Pick<BenchStack, 'db' | 'stateDir'>,
  templateId: string,
  { count, serviceId, units = null }: { count: number; serviceId: string; units?: number | null },
): Promise<Issued[]> => {
  const { kid, seed } = environmentKeys(stateDir, 'test').signing.settlement;
  const key = { kid, key: privateKeyFromSeed(Buffer.from(seed, 'base64url')) };
  const now = Date.now();
  const made = Array.from({ length: count }, () => {
    const [settlement_id, quote_id] = [newId('stl'), newId('q')];
    const claims = {
      env: 'test' as const,
      settlement_id,
      quote_id,
      service_id: serviceId,
      quote_amount: PRICE_MICRO.toString(),
      issued_at: isoTime(now),
      redeem_expires_at: isoTime(now + DAY_MS),
    };
    return { settlement_id, quote_id, settlement_token: signToken('settlement', claims, key) };
  });
  const columns = await writtenColumns(db, 'settlement.settlements');
  await db.query(
    `insert into settlement.settlements (${columns.map(({ name }) => name).join(', ')})
     select ${columns.map(({ name }) => `copy.${name}`).join(', ')} from settlement.settlements as template,
       unnest($2::text[], $3::text[], $4::text[], $7::text[]) as made (settlement_id, quote_id, token, hash),
       jsonb_populate_record(template, jsonb_build_object(
         'settlement_id', made.settlement_id, 'quote_id', made.quote_id, 'payment_attempt_id', made.settlement_id,
         'settlement_token', made.token, 'settlement_token_hash', made.hash, 'redeem_expires_at', $5::timestamptz,
         'expires_from', $5::timestamptz, 'redeem_window_seconds', 86400, 'status', 'issued', 'redeemed_at', null,
         'chain_status', 'finalized', 'holding', false, 'units_total', $6::int)) as copy
     where template.settlement_id = $1`,
    [
      templateId,
      made.map(({ settlement_id }) => settlement_id),
      made.map(({ quote_id }) => quote_id),
      made.map(({ settlement_token }) => byteaText(packToken(settlement_token))),
      isoTime(now + DAY_MS),
      units,
      made.map(({ settlement_token }) => byteaText(tokenHash(settlement_token))),
    ],
  );
  return made;
};

/**
 * A table of the skeleton with the columns, checks, indexes and settings of ours. `like` omits the
 * settings. Without our free space in the pages (fillfactor) an UPDATE logs 2.0 kB instead of 1.4
 * kB.
 */
export const copyTable = async (db: pg.Pool, table: string): Promise<void> => {
  const copy = `bench.${table.split('.')[1]}`;
  await db.query(`create schema if not exists bench; create table ${copy} (like ${table} including all)`);
  const { rows } = await db.query<{ setting: string }>(
    'select unnest(reloptions) as setting from pg_class where oid = $1::regclass',
    [table],
  );
  for (const { setting } of rows) await db.query(`alter table ${copy} set (${setting})`);
};
