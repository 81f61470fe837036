import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { chainState, isOutgoingPayment } from './conditions.ts';
import { columns, Row } from './settlements.ts';

/*
 * Settlements that pay vendors which do not use Quittance.
 */

const OutgoingRow = Row.extend({
  /** The vendor's requirement as JSON, with its fields in their order. Null on another rail. */
  requirement: z.string().nullable(),
  /** Null for MPP. */
  x402_version: z.number().nullable(),
  /** Null: the bytes were never handed out. */
  message_hash: z.string().nullable(),
  owner: z.string().nullable(),
  capped_at: z.number().nullable(),
});
export type OutgoingRow = z.infer<typeof OutgoingRow>;

const outgoingColumns = sql.fragment`${columns}, requirement::text as requirement, x402_version, message_hash, capped_at,
  (select owner from payers where payers.wallet_id = settlements.wallet_id) as owner`;

/** The attempt of a payer's account on any rail, or null. */
export const findOutgoingAttempt = (
  db: Db,
  accountId: string,
  attemptId: string,
): Promise<OutgoingRow | null> =>
  db.maybeOne(sql.type(OutgoingRow)`
    select ${outgoingColumns} from settlements
    where account_id = ${accountId} and payment_attempt_id = ${attemptId}`);

/** An outgoing payment by its settlement, or null. */
export const findOutgoing = (db: Db, settlementId: string): Promise<OutgoingRow | null> =>
  db.maybeOne(sql.type(OutgoingRow)`
    select ${outgoingColumns} from settlements
    where settlement_id = ${settlementId} and ${isOutgoingPayment}`);

/**
 * Outgoing payments whose call is over, and whose bytes were not handed out. Handed-out bytes have
 * ended long before they are listed, unless chain-submitter cannot read the chain or has lost their
 * record.
 */
export const listUnsigned = (db: Db, limit: number): Promise<readonly OutgoingRow[]> =>
  db.any(sql.type(OutgoingRow)`
    select ${outgoingColumns} from settlements
    where ${chainState.is('pending')} and ${isOutgoingPayment} and created_at < app_now() -
      case when message_hash is null then interval '2 minutes' else interval '15 minutes' end
    order by created_at limit ${limit}`);

/**
 * Records which message was signed, before its bytes are handed out. A repeat changes nothing,
 * because the bytes are the same.
 */
export const recordHandedOut = (
  db: Db,
  settlementId: string,
  { messageHash, sourceAccount }: { messageHash: string; sourceAccount: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update settlements set message_hash = ${messageHash}, source_account = ${sourceAccount},
      progressed_at = case when ${chainState.is('pending')} then app_now() else progressed_at end
    where settlement_id = ${settlementId} and ${isOutgoingPayment} and message_hash is null`);

/** Erases the queries of the addresses that an account has paid for. */
export const eraseResourceQueries = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update settlements set resource = split_part(resource, '?', 1)
    where account_id = ${accountId} and resource like '%?%'`);
