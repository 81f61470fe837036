import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import type { Message } from '../../../shared/events/event.ts';
import {
  insertedColumn,
  insertedRows,
  type OutboxRow,
  outboxRow,
  outboxValues,
} from '../../../shared/events/outbox.ts';
import { moveDelegate } from './delegates.ts';
import { Row } from './settlements.ts';
import { allows, chainState, state } from './states.ts';

/*
 * The events of chain-submitter as conditional updates, guarded by the tables of
 * domain/settlement.ts. A repeat, or an event that another overtook, changes nothing and returns no
 * outbox rows.
 */
/** Delegate before payer, the order in which accepting locks them: the condition is judged before a row is. */
const afterDelegate = sql.fragment`(select count(*) from delegated) >= 0`;

/**
 * A delegate's counters: a payment that is confirmed turns from held to spent, a fork turns it back, and only a proven
 * failure gives it back, out of what it stood in. Held and spent together never fall while money may still move.
 */
const spent = moveDelegate({
  held: sql.fragment`case when changed.was_holding then -1 else 0 end`,
  spent: sql.fragment`case when changed.was_holding then 1 else 0 end`,
});
const heldAgain = moveDelegate({ held: sql.fragment`1`, spent: sql.fragment`-1` });
const givenBack = moveDelegate({
  held: sql.fragment`case when changed.was_holding then -1 else 0 end`,
  spent: sql.fragment`case when changed.was_holding then 0 else -1 end`,
});

const unseen = sql.fragment`
  coalesce(sum(changed.quote_amount) filter (where locked.as_of_slot < changed.slot), 0)::bigint`;

/**
 * Gives the holds back. What landed after the payer was last seen is taken off the sight; what landed before is in
 * it already. The landing's slot (null: nothing landed) is kept, so that no sight from before it is taken over later
 * (`savePayer`). Sights thus never count a payment twice, and never too little. Payers are locked in the order of their ids,
 * and counted from as they are locked (see moveDelegate).
 */
const release = sql.fragment`
  update payers set held = freed.held, balance = freed.balance, allowance = freed.allowance,
    landed_slot = freed.landed_slot
  from (
    select locked.wallet_id, max(locked.held) - sum(changed.quote_amount)::bigint as held,
      greatest(max(locked.balance) - ${unseen}, 0) as balance, greatest(max(locked.allowance) - ${unseen}, 0) as allowance,
      greatest(max(locked.landed_slot), max(changed.slot)) as landed_slot
    from (
      select p.wallet_id, p.as_of_slot, p.held, p.balance, p.allowance, p.landed_slot from payers as p
      where p.wallet_id = any(array(select wallet_id from changed where was_holding)) and ${afterDelegate}
      order by p.wallet_id for no key update of p
    ) as locked
    join changed on changed.wallet_id = locked.wallet_id and changed.was_holding
    group by locked.wallet_id
  ) as freed
  where payers.wallet_id = freed.wallet_id`;

/**
 * The transaction's bytes are committed at chain-submitter: its hash can be shown while the payment is pending. Told only
 * of a payment that is not confirmed soon, so nothing rests on it.
 */
export const noteSigned = (
  db: Db,
  settlementId: string,
  { generation, txHash }: { generation: number; txHash: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update settlements set tx_hash = ${txHash}, generation = ${generation}, progress_at = app_now()
    where settlement_id = ${settlementId} and ${state.is('pending')} and generation < ${generation}`);

const Landed = z.object({
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
export type Landed = Omit<z.infer<typeof Landed>, 'outbox'> & { outbox: OutboxRow[] };

/**
 * A transaction that was confirmed, with what issues its settlement and the events of that. Times
 * in epoch milliseconds.
 */
export type Landing = {
  settlementId: string;
  generation: number;
  txHash: string;
  slot: number;
  finalized: boolean;
  issuedAt: number;
  redeemExpiresAt: number;
  settlementToken: string;
  messages: { issued: Message; finalized: Message };
};

/**
 * Confirmed (or finalized at first sight): issues pending settlements with their tokens, or confirms again those that
 * were forked away, then with the old hash among the superseded ones. All of them in one statement and one commit;
 * settlements are locked in the order of their ids, then delegates, then payers.
 * @param landings at most one of a settlement
 * @returns each one's record as it is now, in their order; null where the event changed nothing
 */
export const noteLanded = async (db: Db, landings: readonly Landing[]): Promise<(Landed | null)[]> => {
  const given = landings.map(({ messages: _, ...landing }) => landing);
  const messages = landings.flatMap(({ messages: { issued, finalized }, finalized: isFinal }) =>
    isFinal ? [issued, finalized] : [issued],
  );
  const { issued, finalized } = landings[0]!.messages;
  const rows = await db.any(sql.type(Landed)`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given("settlementId" text, generation integer,
        "txHash" text, slot bigint, finalized boolean, "issuedAt" float8, "redeemExpiresAt" float8, "settlementToken" text)
    ), before as (
      select settlement_id, status as was, holding as was_holding from settlements
      where settlement_id = any(array(select "settlementId" from given))
      order by settlement_id for update
    ), changed as (
      update settlements as s set
        status = case when given.finalized then ${state.after('finalized')} else ${state.after('confirmed')} end,
        chain_status = case when given.finalized then ${chainState.after('finalized')}
          else ${chainState.after('confirmed')} end,
        holding = false,
        generation = given.generation,
        superseded_tx_hashes = case when before.was <> 'pending' and s.tx_hash <> given."txHash"
          then s.superseded_tx_hashes || s.tx_hash else s.superseded_tx_hashes end,
        tx_hash = given."txHash",
        issued_at = coalesce(s.issued_at, to_timestamp(given."issuedAt" / 1000)),
        redeem_expires_at = coalesce(s.redeem_expires_at, to_timestamp(given."redeemExpiresAt" / 1000)),
        settlement_token = coalesce(s.settlement_token, given."settlementToken"),
        forked_for = s.forked_for + coalesce(app_now() - s.forked_at, '0'), forked_at = null,
        progress_at = app_now()
      from before join given on given."settlementId" = before.settlement_id
      where s.settlement_id = before.settlement_id and s.generation <= given.generation
        and case when given.finalized then ${allows('finalized')} else ${allows('confirmed')} end
      returning s.*, before.was, before.was_holding, given.slot
    ), delegated as (${spent}), released as (${release}), sent as (
      insert into outbox (subject, msg_id, payload, traceparent)
      select message.* from ${outboxValues(messages)}
      join changed on changed.settlement_id = message.payload ->> 'settlement_id'
      where message.subject = ${issued.subject} and changed.was = 'pending'
        or message.subject = ${finalized.subject} and changed.chain_status = 'finalized'
      returning outbox_id, msg_id, payload ->> 'settlement_id' as settlement_id
    ), told as (
      select settlement_id, jsonb_agg(jsonb_build_object('outbox_id', outbox_id, 'msg_id', msg_id)) as outbox
      from sent group by settlement_id
    )
    select changed.settlement_id, was, status, tx_hash, superseded_tx_hashes, settlement_token, redeem_expires_at,
      failure_code, failure_message, coalesce(told.outbox, '[]'::jsonb) as outbox
    from changed left join told on told.settlement_id = changed.settlement_id`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return landings.map((landing) => {
    const row = found.get(landing.settlementId);
    return row === undefined
      ? null
      : { ...row, outbox: insertedRows(Object.values(landing.messages), row.outbox) };
  });
};

/** Forked away: the same settlement is driven again, and holds its amount again. It stays issued or redeemed. */
export const noteReopened = (db: Db, settlementId: string, generation: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with changed as (
      update settlements set chain_status = ${chainState.after('reopened')}, holding = true, forked_at = app_now(), progress_at = app_now()
      where settlement_id = ${settlementId} and ${allows('reopened')} and not holding
        and generation = ${generation}
      returning wallet_id, quote_amount, delegate_id, delegate_day
    ), delegated as (${heldAgain})
    update payers set held = held + changed.quote_amount
    from changed where payers.wallet_id = changed.wallet_id and ${afterDelegate}`);

/**
 */
/** Proven that nothing moved and nothing will: the attempt fails for good; a redeemed settlement stays, reversed. */
export const noteFailed = (
  db: Db,
  settlementId: string,
  { generation, code, message }: { generation: number; code: string; message: string },
  messages: { failed: Message; reversed: Message },
): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with before as (
      select settlement_id, status as was, holding as was_holding from settlements
      where settlement_id = ${settlementId} for update
    ), changed as (
      update settlements as s set
        status = ${state.after('failed')}, chain_status = ${chainState.after('failed')}, holding = false,
        failure_code = ${code}, failure_message = ${message}, progress_at = app_now()
      from before
      where s.settlement_id = before.settlement_id and s.generation <= ${generation}
        and ${allows('failed')}
      returning s.wallet_id, s.quote_amount, s.delegate_id, s.delegate_day, s.status, before.was, before.was_holding,
        null::bigint as slot
    ), delegated as (${givenBack}), released as (${release})
    insert into outbox (subject, msg_id, payload, traceparent)
    select message.* from ${outboxValues([messages.failed])} where exists (select from changed where status = 'failed')
    union all
    select message.* from ${outboxValues([messages.reversed])} where exists (select from changed where was <> 'pending')
    returning outbox_id, subject, msg_id, payload, traceparent`);
