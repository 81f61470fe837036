import { z } from 'zod';
import type { Progress } from '../../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import type { Message } from '../../../../shared/events/event.ts';
import {
  insertedColumn,
  insertedRows,
  insertMessages,
  type OutboxRow,
  outboxRow,
  outboxValues,
  publishMatching,
} from '../../../../shared/events/outbox.ts';
import { byteaText, packToken, tokenHash } from '../../../../shared/lib/tokens/packed-token.ts';
import { countedIn, updateDelegateCounters } from '../../delegates/store.ts';
import { addPaidFees, returnFees, subtractPaidFees } from '../../fee-accounts/store.ts';
import { returnKeys } from '../../keys/store.ts';
import { holdPayersAgain, releasePayers } from '../../payers/store.ts';
import { statuses } from '../model/status.ts';
import { allows, chainState, state } from './conditions.ts';
import { releaseHourlyCaps } from './hourly-release.ts';
import { closeFailed, closeOpen } from './incoming/incoming-payments.ts';
import { holdOutgoingAgain, releaseOutgoing } from './outgoing/outgoing-payments.ts';
import { Row } from './settlements.ts';

/*
 * The events of chain-submitter as conditional updates, guarded by the tables of
 * ../model/status.ts. A repeated or overtaken event changes nothing and returns no outbox rows.
 *
 * The counters of a delegate, or of the account of a sign-in, follow the payment: confirmed turns
 * held into spent, a fork turns it back, and only a proven failure releases the amount, from the
 * counter that holds it. The sum of held and spent never falls while money may still move.
 */
/** The state of CTE `before`, or of CTE `changed` before its change. */
const wasState = stateColumn(statuses, sql.fragment`was`);

const heldToSpent = updateDelegateCounters({
  held: sql.fragment`-1`,
  spent: sql.fragment`1`,
  // A payment that becomes final was confirmed before, so its counters do not change again.
  of: sql.fragment`changed.was_holding`,
});
const spentToHeld = updateDelegateCounters({ held: sql.fragment`1`, spent: sql.fragment`-1` });
const released = updateDelegateCounters({
  held: sql.fragment`case when changed.was_holding then -1 else 0 end`,
  spent: sql.fragment`case when changed.was_holding then 0 else -1 end`,
});

/** No transaction of the payment was confirmed yet. */
const isUnpaid = state.is('pending', 'capturing');
const wasUnpaid = wasState.is('pending', 'capturing');

type Signed = Pick<Progress, 'object_id' | 'generation' | 'tx_hash'>;

/**
 * chain-submitter has committed the bytes of these transactions, so their hashes can be shown while
 * the payments are pending. The event comes only for a payment that is not confirmed soon. No other
 * statement depends on it. It locks the settlements in the order of their ids.
 * @param signed at most one of a settlement, each with its hash
 */
export const recordSigned = (db: Db, signed: readonly Signed[]): Promise<unknown> => {
  const ids = sql.array(
    signed.map(({ object_id }) => object_id),
    'text',
  );
  return db.query(sql.typeAlias('void')`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(signed)}::jsonb)
        as input(object_id text, generation integer, tx_hash text)
    ), locked as (
      select settlement_id from settlements
      where settlement_id = any(${ids}) and ${isUnpaid}
      order by settlement_id for update
    )
    update settlements as s set tx_hash = input.tx_hash, generation = input.generation, progressed_at = app_now()
    from locked join input on input.object_id = locked.settlement_id
    where s.settlement_id = any(${ids}) and s.settlement_id = locked.settlement_id and ${isUnpaid}
      and s.generation < input.generation`);
};

const Confirmed = z.object({
  settlement_id: z.string(),
  was: Row.shape.status,
  ...Row.pick({
    status: true,
    tx_hash: true,
    superseded_tx_hashes: true,
    settlement_token: true,
    redeem_expires_at: true,
    failure_code: true,
    failure_message: true,
  }).shape,
  outbox: insertedColumn,
});
export type ConfirmedRow = Omit<z.infer<typeof Confirmed>, 'outbox'> & { outbox: OutboxRow[] };

export type ConfirmedEvents = {
  issued: Message;
  finalized: Message;
  /** Null: not the payment of an authorization. */
  captured: { redeemed: Message; captured: Message } | null;
};

/** The progress of a payment whose transaction the chain has included. */
export type Included = Progress & { tx_hash: string; slot: number };

/**
 * The progress of a payment that is confirmed or finalized, with the token that issues its
 * settlement and the events. Times are epoch milliseconds.
 */
export type Confirmation = {
  progress: Included;
  issued_at: number;
  /** Null on another rail: it does not expire, and has no token. */
  redeem_expires_at: number | null;
  settlement_token: string | null;
  messages: ConfirmedEvents;
};

/** Sets the columns of settlement `s` from its row of CTE `input` and its state in CTE `before`. */
const confirmedColumns = sql.fragment`
  status = case when input.finalized then ${state.after('finalized')} else ${state.after('confirmed')} end,
  chain_status = case when input.finalized then ${chainState.after('finalized')}
    else ${chainState.after('confirmed')} end,
  holding = false,
  generation = input.generation,
  superseded_tx_hashes = case when not ${wasUnpaid} and s.tx_hash <> input.tx_hash
    then s.superseded_tx_hashes || s.tx_hash else s.superseded_tx_hashes end,
  tx_hash = input.tx_hash,
  issued_at = coalesce(s.issued_at, to_timestamp(input.issued_at / 1000)),
  redeem_expires_at = coalesce(s.redeem_expires_at, to_timestamp(input.redeem_expires_at / 1000)),
  settlement_token = coalesce(s.settlement_token, input.token),
  settlement_token_hash = coalesce(s.settlement_token_hash, input.token_hash),
  redeemed_at = case when ${wasState.is('capturing')} then to_timestamp(input.issued_at / 1000) else s.redeemed_at end,
  forked_for = s.forked_for + coalesce(app_now() - s.forked_at, '0'), forked_at = null,
  under_way_since = case when not input.finalized then s.under_way_since end, progressed_at = app_now()`;

/** The row of CTE `input` for a confirmation. */
const inputOf = (confirmation: Confirmation) => {
  const { progress, issued_at, redeem_expires_at, settlement_token: token } = confirmation;
  const { object_id: settlement_id, status, generation, tx_hash, slot } = progress;
  return {
    settlement_id,
    generation,
    tx_hash,
    slot,
    finalized: status === 'finalized',
    issued_at,
    redeem_expires_at,
    token: token && byteaText(packToken(token)),
    token_hash: token && byteaText(tokenHash(token)),
  };
};

export type ConfirmationRow = ReturnType<typeof inputOf>;

/**
 * Confirmed, or finalized without a confirmation before: issues pending settlements with their
 * tokens, or confirms forked ones again and adds the old hash to the superseded ones. One statement
 * and one commit record all of them. It locks settlements in the order of their ids, then
 * delegates, then payers.
 * @param confirmations at most one of a settlement
 * @returns each one's record as it is now, in their order; null where the event changed nothing
 */
export const recordConfirmed = async (
  db: Db,
  confirmations: readonly Confirmation[],
): Promise<(ConfirmedRow | null)[]> => {
  const messages = confirmations.flatMap(({ progress, messages: { issued, finalized, captured } }) => [
    issued,
    ...(captured === null ? [] : [captured.redeemed, captured.captured]),
    ...(progress.status === 'finalized' ? [finalized] : []),
  ]);
  const { finalized } = confirmations[0]!.messages;
  // Bound as an array too (see `findForVerify`): a distributed engine then needs only their nodes.
  const ids = sql.array(
    confirmations.map(({ progress }) => progress.object_id),
    'text',
  );
  const rows = await db.any(sql.type(Confirmed)`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(confirmations.map(inputOf))}::jsonb) as input(settlement_id text,
        generation integer, tx_hash text, slot bigint, finalized boolean, issued_at float8, redeem_expires_at float8,
        token bytea, token_hash bytea)
    ), before as (
      select settlement_id, status as was, holding as was_holding from settlements
      where settlement_id = any(${ids})
      order by settlement_id for update
    ), changed as (
      update settlements as s set ${confirmedColumns}
      from before join input on input.settlement_id = before.settlement_id
      where s.settlement_id = any(${ids}) and s.settlement_id = before.settlement_id and s.generation <= input.generation
        and case when input.finalized then ${allows('finalized')} else ${allows('confirmed')} end
      returning s.*, before.was, before.was_holding, input.slot
    ), delegated as (${heldToSpent}), released as (${releasePayers}), paid_fees as (${addPaidFees}),
    outgoing as (${releaseOutgoing(ids)}), incoming as (${closeOpen(ids)}),
    ${publishMatching(
      messages,
      'settlement_id',
      sql.fragment`join changed on changed.settlement_id = message.payload ->> 'settlement_id'
      where case when message.subject = ${finalized.subject} then changed.chain_status = 'finalized'
        else ${wasUnpaid} end`,
    )}
    select changed.settlement_id, was, status, tx_hash, superseded_tx_hashes, settlement_token, redeem_expires_at,
      failure_code, failure_message, coalesce(published.outbox, '[]'::jsonb) as outbox
    from changed left join published on published.settlement_id = changed.settlement_id`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return confirmations.map((confirmation) => {
    const row = found.get(confirmation.progress.object_id);
    return row === undefined ? null : { ...row, outbox: insertedRows(messages, row.outbox) };
  });
};

/**
 * Forked away: the settlement is executed again and holds its amount again. It stays issued or
 * redeemed.
 */
export const recordReopened = (db: Db, settlementId: string, generation: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with changed as (
      update settlements set chain_status = ${chainState.after('reopened')},
        holding = wallet_id is not null, forked_at = app_now(), progressed_at = app_now()
      where settlement_id = ${settlementId} and ${allows('reopened')} and not holding
        and generation = ${generation}
      returning settlement_id, rail, account_id, wallet_id, quote_amount, delegate_id, ${countedIn}
    ), delegated as (${spentToHeld}), outgoing as (${holdOutgoingAgain})
    ${holdPayersAgain}`);

type Failure = {
  generation: number;
  code: string;
  message: string;
  /** The chain has included the transaction and refused it, so its lamports are spent. */
  isIncluded: boolean;
};

/**
 * Proven that no money moved and none will: the attempt fails for good. A redeemed settlement stays
 * redeemed, with its payment reversed. Its accrued fee is returned unless the chain has included
 * the transaction (docs/adr/0061).
 */
export const recordFailed = (
  db: Db,
  settlementId: string,
  { generation, code, message, isIncluded }: Failure,
  messages: { failed: Message; reversed: Message },
): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with before as (
      select s.settlement_id, status as was, holding as was_holding from settlements as s
      where s.settlement_id = ${settlementId} for update
    ), of_incoming as (
      select incoming.settlement_id as incoming_id, incoming.source_account, incoming.external_id, incoming.accrued_fee
      from incoming_payments as incoming where incoming.settlement_id = ${settlementId}
    ), changed as (
      update settlements as s set
        status = ${state.after('failed')}, chain_status = ${chainState.after('failed')}, holding = false,
        under_way_since = null, expires_from = null, failure_code = ${code}, failure_message = ${message}, progressed_at = app_now()
      from before left join of_incoming on incoming_id = before.settlement_id
      where s.settlement_id = ${settlementId} and s.settlement_id = before.settlement_id and s.generation <= ${generation}
        and ${allows('failed')}
      returning s.settlement_id, s.rail, s.wallet_id, s.quote_amount, s.delegate_id, ${countedIn}, s.status, before.was, before.was_holding,
        null::bigint as slot, s.account_id, s.vendor_account_id, s.service_id, s.scope,
        case when ${isIncluded} then 0 else coalesce(accrued_fee, 0) end as returned_fee,
        (select o.capped_at from outgoing_payments as o where o.settlement_id = ${settlementId}) as capped_at, s.quote_id, source_account, external_id
    ), delegated as (${released}), released as (${releasePayers}), keys as (${returnKeys}), returned as (${returnFees}),
    unpaid as (${subtractPaidFees}), outgoing as (${releaseOutgoing(sql.array([settlementId], 'text'))}), incoming as (${closeFailed}),
    ${releaseHourlyCaps('paid', sql.fragment`changed.quote_amount`)}
    ${insertMessages(sql.fragment`
      select subject, msg_id, payload, traceparent from ${outboxValues([messages.failed])} where exists (select from changed where status = 'failed')
      union all
      select subject, msg_id, payload, traceparent from ${outboxValues([messages.reversed])} where exists (select from changed where not ${wasUnpaid})`)}`);
