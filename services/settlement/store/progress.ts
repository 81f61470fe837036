import { type OutboxRow, type Outgoing, outboxRow, outboxValues } from '../../../shared/db/outbox.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { moveDelegate } from './delegates.ts';

/*
 * The facts of chain-submitter as conditional updates: the transition table of domain/settlement.ts in SQL. A
 * repeat or a fact that another overtook changes nothing and returns no outbox rows.
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

/**
 * Gives the hold back. What landed after the payer was last seen is taken off the sight; what landed before is in
 * it already. The landing's slot is kept, so that no sight from before it is taken over later (`savePayer`). Sights
 * thus never count a payment twice, and never too little.
 */
const release = (landedSlot: number | null) => sql.fragment`
  update payers set
    held = payers.held - changed.quote_amount,
    balance = case when payers.as_of_slot < ${landedSlot}::bigint
      then greatest(payers.balance - changed.quote_amount, 0) else payers.balance end,
    allowance = case when payers.as_of_slot < ${landedSlot}::bigint
      then greatest(payers.allowance - changed.quote_amount, 0) else payers.allowance end,
    landed_slot = greatest(payers.landed_slot, ${landedSlot}::bigint)
  from changed where payers.wallet_id = changed.wallet_id and changed.was_holding
    and ${afterDelegate}`;

/** The transaction's bytes are committed at chain-submitter: its hash can be shown while the payment is pending. */
export const noteSigned = (
  db: Db,
  settlementId: string,
  { generation, txHash }: { generation: number; txHash: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update settlements set tx_hash = ${txHash}, generation = ${generation}, progress_at = app_now()
    where settlement_id = ${settlementId} and status = 'pending' and generation < ${generation}`);

export type Landing = { generation: number; txHash: string; slot: number; finalized: boolean };

/**
 * Confirmed (or finalized at first sight): issues a pending settlement with its token, or confirms again one that was
 * forked away, then with the old hash among the superseded ones.
 */
export const noteLanded = (
  db: Db,
  settlementId: string,
  { generation, txHash, slot, finalized }: Landing,
  issue: { issuedAt: number; redeemExpiresAt: number; settlementToken: string },
  messages: { issued: Outgoing; finalized: Outgoing },
): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with before as (
      select settlement_id, status, holding from settlements where settlement_id = ${settlementId} for update
    ), changed as (
      update settlements as s set
        status = case when s.status = 'pending' then 'issued' else s.status end,
        chain_status = ${finalized ? 'finalized' : 'confirmed'},
        holding = false,
        generation = ${generation},
        superseded_tx_hashes = case when s.status <> 'pending' and s.tx_hash <> ${txHash}
          then s.superseded_tx_hashes || s.tx_hash else s.superseded_tx_hashes end,
        tx_hash = ${txHash},
        issued_at = coalesce(s.issued_at, to_timestamp(${issue.issuedAt}::float8 / 1000)),
        redeem_expires_at = coalesce(s.redeem_expires_at, to_timestamp(${issue.redeemExpiresAt}::float8 / 1000)),
        settlement_token = coalesce(s.settlement_token, ${issue.settlementToken}),
        progress_at = app_now()
      from before
      where s.settlement_id = before.settlement_id and s.generation <= ${generation}
        and s.status <> 'failed' and s.chain_status in ('pending', ${finalized ? 'confirmed' : 'pending'})
      returning s.wallet_id, s.quote_amount, s.delegate_id, s.delegate_day, s.chain_status, before.status as was,
        before.holding as was_holding
    ), delegated as (${spent}), released as (${release(slot)})
    insert into outbox (subject, msg_id, payload, traceparent)
    select message.* from ${outboxValues([messages.issued])} where exists (select from changed where was = 'pending')
    union all
    select message.* from ${outboxValues([messages.finalized])} where exists (select from changed where chain_status = 'finalized')
    returning outbox_id, subject, msg_id, payload, traceparent`);

/** Forked away: the same settlement is driven again, and holds its amount again. It stays issued or redeemed. */
export const noteReopened = (db: Db, settlementId: string, generation: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with changed as (
      update settlements set chain_status = 'pending', holding = true, progress_at = app_now()
      where settlement_id = ${settlementId} and chain_status = 'confirmed' and not holding
        and generation = ${generation}
      returning wallet_id, quote_amount, delegate_id, delegate_day
    ), delegated as (${heldAgain})
    update payers set held = held + changed.quote_amount
    from changed where payers.wallet_id = changed.wallet_id and ${afterDelegate}`);

/** Proven that nothing moved and nothing will: the attempt fails for good; a redeemed settlement stays, reversed. */
export const noteFailed = (
  db: Db,
  settlementId: string,
  { generation, code, message }: { generation: number; code: string; message: string },
  messages: { failed: Outgoing; reversed: Outgoing },
): Promise<readonly OutboxRow[]> =>
  db.any(sql.type(outboxRow)`
    with before as (
      select settlement_id, status, holding from settlements where settlement_id = ${settlementId} for update
    ), changed as (
      update settlements as s set
        status = case when s.status = 'redeemed' then 'redeemed' else 'failed' end,
        chain_status = 'failed', holding = false,
        failure_code = ${code}, failure_message = ${message}, progress_at = app_now()
      from before
      where s.settlement_id = before.settlement_id and s.generation <= ${generation}
        and s.chain_status in ('pending', 'confirmed')
      returning s.wallet_id, s.quote_amount, s.delegate_id, s.delegate_day, s.status, before.status as was,
        before.holding as was_holding
    ), delegated as (${givenBack}), released as (${release(null)})
    insert into outbox (subject, msg_id, payload, traceparent)
    select message.* from ${outboxValues([messages.failed])} where exists (select from changed where status = 'failed')
    union all
    select message.* from ${outboxValues([messages.reversed])} where exists (select from changed where was <> 'pending')
    returning outbox_id, subject, msg_id, payload, traceparent`);
