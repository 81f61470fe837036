import { z } from 'zod';
import { type Db, sql } from '../../../../../shared/db/pool.ts';
import { ofAttempt } from '../../../keys/store.ts';
import { chainState, isOutgoingPayment } from '../conditions.ts';
import { columns, Row, withKinds } from '../settlements.ts';

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

const outgoingColumns = sql.fragment`${columns}, of_kind.requirement::text as requirement, of_kind.x402_version,
  of_kind.message_hash, of_kind.capped_at,
  (select owner from payers where payers.wallet_id = settlements.wallet_id) as owner`;

/** The attempt of a payer's account on any rail, or null. */
export const findOutgoingAttempt = (
  db: Db,
  accountId: string,
  attemptId: string,
): Promise<OutgoingRow | null> =>
  db.maybeOne(sql.type(OutgoingRow)`
    select ${outgoingColumns} from ${withKinds()}
    where settlement_id = ${ofAttempt(accountId, attemptId)}`);

/** An outgoing payment by its settlement, or null. */
export const findOutgoing = (db: Db, settlementId: string): Promise<OutgoingRow | null> =>
  db.maybeOne(sql.type(OutgoingRow)`
    select ${outgoingColumns} from ${withKinds()}
    where settlement_id = ${settlementId} and ${isOutgoingPayment}`);

/**
 * Outgoing payments whose call is over, and whose bytes were not handed out. Handed-out bytes have
 * ended long before they are listed, unless chain-submitter cannot read the chain or has lost their
 * record.
 */
export const listUnsigned = (db: Db, limit: number): Promise<readonly OutgoingRow[]> =>
  db.any(sql.type(OutgoingRow)`
    select ${outgoingColumns} from ${withKinds()}
    where ${chainState.is('pending')} and ${isOutgoingPayment} and created_at < app_now() -
      case when of_kind.message_hash is null then interval '2 minutes' else interval '15 minutes' end
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
    with locked as (
      select settlement_id from settlements where settlement_id = ${settlementId} for update
    ), signed as (
      update outgoing_payments as outgoing set message_hash = ${messageHash}, source_account = ${sourceAccount}
      from locked where outgoing.settlement_id = locked.settlement_id and message_hash is null
      returning outgoing.settlement_id
    )
    update settlements as s set progressed_at = app_now()
    from signed where s.settlement_id = signed.settlement_id and ${chainState.is('pending')}`);

/** The message of the outgoing payment `s`; null: its bytes were not handed out. */
export const messageHandedOut = sql.fragment`(
  select message_hash from outgoing_payments as outgoing where outgoing.settlement_id = s.settlement_id)`;

/** The outgoing payments of CTE `changed`. Those of a quote are not searched. */
const areChanged = sql.fragment`settlement_id = any(array(select settlement_id from changed where ${isOutgoingPayment}))`;
/**
 * CTE: the outgoing payments of CTE `changed` hold their amounts no longer.
 * @param ids SQL of an array with the ids of all its rows
 */
export const releaseOutgoing = (ids: ReturnType<typeof sql.array>) => sql.fragment`
  update outgoing_payments set holder = null where ${areChanged} and settlement_id = any(${ids})`;
/** CTE: they hold their amounts again. */
export const holdOutgoingAgain = sql.fragment`update outgoing_payments set holder = account_id where ${areChanged}`;

/** Erases the queries of the addresses that an account has paid for. */
export const eraseResourceQueries = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update outgoing_payments set resource = split_part(resource, '?', 1)
    where account_id = ${accountId} and resource like '%?%'`);
