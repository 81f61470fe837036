import { z } from 'zod';
import type { OutgoingRail } from '../../../../../shared/contract/settlement.ts';
import { type Db, type Pool, sql } from '../../../../../shared/db/pool.ts';
import type { Payee } from '../../../../../shared/lib/money/payees.ts';
import { lockApprovals } from '../../../approvals/store/approvals.ts';
import { countedIn, holdDelegates, lockDelegates } from '../../../delegates/store.ts';
import { ATTEMPT, claimedId, claimKeys, ofAttempt } from '../../../keys/store.ts';
import { afterRowsOf, holdPayers, lockPayers } from '../../../payers/store.ts';
import {
  type ComparedLimit,
  capsOf,
  comparedOf,
  comparedShape,
  comparedWith,
  isLimitedBy,
} from '../limits.ts';
import { firstOf, namesOf } from '../refusals.ts';
import { MAX_UNSETTLED, OUTGOING_REFUSALS } from './outgoing-refusals.ts';

/** An outgoing payment that is not accepted yet. */
export type OutgoingAttempt = {
  settlementId: string;
  rail: OutgoingRail;
  accountId: string;
  paymentAttemptId: string;
  delegateId: string | null;
  walletId: string;
  /** The delegated authority, which signs. */
  authority: string;
  amountMicro: bigint;
  /** Everybody who is paid, the recipient first. */
  payees: readonly Payee[];
  host: string;
  origin: string;
  resource: string;
  /** The vendor's requirement as JSON. */
  requirement: string;
  /** Of x402. Null for MPP. */
  version: 1 | 2 | null;
  /** The moment in whose hour the caps count the amount, epoch milliseconds. */
  cappedAt: number;
  /** A sign-in of the last minutes by a person, which the limits of the account do not bind. */
  isFresh: boolean;
};

const PAUSED_FOR = sql.fragment`interval '1 hour'`;

/**
 * `existing`: the attempt exists. `conflict`: a concurrent transaction inserted the attempt id;
 * evaluate again. The refusals have their conditions, their rank and their errors in
 * outgoing-refusals.ts.
 */
const DECISIONS = ['accepted', 'existing', ...namesOf(OUTGOING_REFUSALS), 'conflict'] as const;
export type OutgoingDecision = (typeof DECISIONS)[number];

const Row = z.object({
  decision: z.enum(DECISIONS),
  /** How long the payee stays paused. */
  paused_seconds: z.number().nullable(),
  ...comparedShape,
});
export type OutgoingEvaluation = Pick<z.infer<typeof Row>, 'decision' | 'paused_seconds'> & {
  compared: ComparedLimit | null;
};

/**
 * Locks the limits of the delegate, or of the account, then all wallets of the account. The
 * statement after it therefore counts the open payments of every transaction that has accepted one.
 */
const lockAccount = (tx: Db, { accountId, delegateId }: OutgoingAttempt): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    with delegate as (
      select delegate_id from delegates where delegate_id = ${delegateId ?? accountId} for update
    )
    select from payers
    where account_id = ${accountId} and ${afterRowsOf('delegate')} order by wallet_id for update`);

const inputOf = (attempt: OutgoingAttempt, isOverCap: boolean) => sql.fragment`
  select ${attempt.settlementId}::text as settlement_id, ${attempt.rail}::text as rail,
    ${attempt.accountId}::text as account_id,
    ${attempt.paymentAttemptId}::text as payment_attempt_id, ${attempt.delegateId}::text as delegate_id,
    ${attempt.walletId}::text as wallet_id, ${attempt.authority}::text as authority,
    ${attempt.amountMicro}::bigint as quote_amount, ${JSON.stringify(attempt.payees)}::jsonb as payees,
    ${sql.array(
      attempt.payees.map(({ address }) => address),
      'text',
    )} as addresses, ${attempt.host}::text as host,
    ${attempt.origin}::text as origin, ${attempt.resource}::text as resource,
    ${attempt.requirement}::json as requirement, ${attempt.version}::smallint as x402_version,
    to_timestamp(${attempt.cappedAt}::float8 / 1000) as capped_at,
    ${attempt.isFresh}::boolean as is_fresh, ${isOverCap}::boolean as is_over_cap`;

const candidateWithRecord = sql.fragment`
  select input.*, existing.found as is_existing from input
  left join lateral (
    select true as found where ${ofAttempt(sql.fragment`input.account_id`, sql.fragment`input.payment_attempt_id`)} is not null
  ) as existing on true`;

/**
 * CTE `open`: how many payments of the account still hold an amount, and how many of those pay the
 * payee that most of them pay.
 */
const countOpen = sql.fragment`
  select count(*) filter (where s.delegate_id is not distinct from candidate.delegate_id) as of_delegate,
    (select coalesce(max(each.payments), 0) from (
      select count(*) as payments from candidate
      join outgoing_payments as paid on paid.holder = candidate.account_id
      join outgoing_payees as payee on payee.settlement_id = paid.settlement_id and payee.address = any(candidate.addresses)
      group by payee.address
    ) as each) as of_payee
  from candidate join outgoing_payments as paid on paid.holder = candidate.account_id
  join settlements as s on s.settlement_id = paid.settlement_id`;

/**
 * CTE `unsettled`: for how long a payee is paused, because the last payments that it was given
 * ended without being used. Null: none is.
 */
const countUnsettled = sql.fragment`
  select extract(epoch from max(each.last) + ${PAUSED_FOR} - app_now())::float8 as seconds
  from candidate cross join unnest(candidate.addresses) as payee(address) cross join lateral (
    select count(*) filter (where latest.status = 'failed') as payments, max(latest.progressed_at) as last from (
      select s.status, s.progressed_at from outgoing_payees as paid
      join outgoing_payments as signed on signed.settlement_id = paid.settlement_id and signed.message_hash is not null
      join settlements as s on s.settlement_id = paid.settlement_id
      where paid.account_id = candidate.account_id and paid.address = payee.address and s.status <> 'pending'
      order by paid.settlement_id desc limit ${MAX_UNSETTLED}
    ) as latest
  ) as each
  where each.payments >= ${MAX_UNSETTLED}`;

const evaluate = sql.fragment`
  select candidate.*, ${countedIn}, unsettled.seconds as paused_seconds,
    payer.balance, payer.balance_left, payer.allowance, payer.allowance_left, ${capsOf},
    case
      when is_existing then 'existing'
      ${firstOf(OUTGOING_REFUSALS)}
      else 'accepted'
    end as decision
  from candidate cross join open cross join unsettled
  left join payer on payer.wallet_id = candidate.wallet_id
  left join delegate on ${isLimitedBy}`;

const insertAccepted = sql.fragment`
  insert into settlements (settlement_id, rail, account_id, payment_attempt_id, delegate_id, ${countedIn}, wallet_id,
    quote_amount, fee_amount)
  select ${claimedId(ATTEMPT)}, rail, account_id, payment_attempt_id, delegate_id, ${countedIn}, wallet_id,
    quote_amount, 0
  from evaluated join claimed using (settlement_id)
  returning settlement_id, account_id, wallet_id, delegate_id, quote_amount`;

/** CTE `outgoing`: what only an outgoing payment has. */
const insertOutgoing = sql.fragment`
  insert into outgoing_payments (settlement_id, account_id, payer_address, service_name, resource, requirement,
    x402_version, capped_at, holder)
  select settlement_id, inserted.account_id, authority, host, resource, requirement, x402_version, capped_at,
    inserted.account_id
  from inserted join evaluated using (settlement_id)`;

/** CTE `paid`: everybody whom the inserted payment pays, in their order. */
const insertPayees = sql.fragment`
  insert into outgoing_payees (settlement_id, ord, account_id, address, amount)
  select inserted.settlement_id, payee.ord, inserted.account_id, payee.each ->> 'address', (payee.each ->> 'amount')::bigint
  from inserted join evaluated using (settlement_id)
  cross join jsonb_array_elements(evaluated.payees) with ordinality as payee(each, ord)`;

const isSameResource = sql.fragment`a.rail = candidate.rail and a.resource = candidate.resource`;

/**
 * Accepts an outgoing payment: checks in rank order, and for an accepted one the attempt, the holds
 * and the settlement in one commit, as `acceptAttempts` does for a settle. Both lock delegates,
 * then payers, so that their amounts are never held twice. The counts of open payments are read
 * after the locks.
 */
export const acceptOutgoing = (
  pool: Pool,
  attempt: OutgoingAttempt,
  { isOverCap }: { isOverCap: boolean },
): Promise<OutgoingEvaluation> =>
  pool.transaction(async (tx) => {
    await lockAccount(tx, attempt);
    const { paused_seconds, ...row } = await tx.one(sql.type(Row)`
      with input as (${inputOf(attempt, isOverCap)}), candidate as (${candidateWithRecord}),
      delegate as (${lockDelegates}), payer as (${lockPayers}), approval as (${lockApprovals(isSameResource)}),
      open as (${countOpen}), unsettled as (${countUnsettled}), evaluated as (${evaluate}),
      ${claimKeys(ATTEMPT, { cte: 'evaluated', accepted: sql.fragment`decision = 'accepted'` })},
      inserted as (${insertAccepted}), outgoing as (${insertOutgoing}), paid as (${insertPayees}),
      payer_hold as (${holdPayers}), delegate_hold as (${holdDelegates})
      select paused_seconds,
        case when decision = 'accepted' and not exists (select from inserted) then 'conflict' else decision end as decision,
        ${comparedWith(sql.fragment`decision`)}
      from evaluated`);
    const { delegateId, amountMicro: askedMicro } = attempt;
    const compared = comparedOf(row, { delegateId, askedMicro });
    return { decision: row.decision, paused_seconds, compared };
  });
