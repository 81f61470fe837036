import { z } from 'zod';
import type { CaptureTerms } from '../../../../shared/contract/quote/capture.ts';
import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import type { Message } from '../../../../shared/events/event.ts';
import {
  insertedColumn,
  insertedRows,
  type OutboxRow,
  publishMatching,
} from '../../../../shared/events/outbox.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import { byteaText, packToken, tokenHash } from '../../../../shared/lib/tokens/packed-token.ts';
import { lockApprovals } from '../../approvals/store/approvals.ts';
import { countedIn, holdDelegates, limitsOf, lockDelegates } from '../../delegates/store.ts';
import {
  ATTEMPT_AND_QUOTE,
  attemptKeyOf,
  claimedId,
  claimKeys,
  isAttemptKey,
  keysAmong,
} from '../../keys/store.ts';
import { holdPayers, lockPayers } from '../../payers/store.ts';
import { payeesOfQuote } from '../model/payees.ts';
import { prepaidUnits } from '../model/prepaid-units.ts';
import { lockAuthorizing } from './authorization-locks.ts';
import {
  type ComparedLimit,
  capsOf,
  comparedOf,
  comparedShape,
  comparedWith,
  isLimitedBy,
  leastLeftOfCaps,
} from './limits.ts';
import { picoOf } from './pico.ts';
import { firstOf, isPayerUnknown, namesOf, type Refusal, SETTLE_REFUSALS } from './refusals.ts';

type Fragment = ReturnType<typeof sql.fragment>;

export type Attempt = {
  settlementId: string;
  accountId: string;
  paymentAttemptId: string;
  delegateId: string | null;
  walletId: string;
  quoteToken: string;
  claims: QuoteClaims;
  /**
   * The chain shows the payment, whose record was lost: expiry, limits and balance do not apply.
   */
  isPaid?: boolean;
  /** A sign-in of the last minutes by a person, which the limits of the account do not bind. */
  isFresh?: boolean;
  /** The sign-in that makes it; null: a delegate. */
  sessionId?: string | null;
};

/**
 * `existing`: the attempt exists. Whatever else is wrong now, its repeat is answered from its row
 * (rule 3). `conflict`: a concurrent transaction inserted the attempt id or the quote; evaluate
 * again. The refusals have their conditions, their rank and their errors in refusals.ts.
 */
const DECISIONS = ['accepted', 'existing', 'quote_settled', ...namesOf(SETTLE_REFUSALS), 'conflict'] as const;
export type Decision = (typeof DECISIONS)[number];

/** `deferred` is no decision: earlier candidates of the statement took precedence. */
const Row = z.object({
  settlement_id: z.string(),
  decision: z.enum([...DECISIONS, 'deferred']),
  outbox: insertedColumn,
  open_micro: z.bigint().nullable(),
  cap_micro: z.bigint().nullable(),
  ...comparedShape,
});

/** The bounds of what is authorized and not paid, in micro-units. */
export type TabCaps = Readonly<Record<'amountMicro' | 'newPayerMicro' | 'vendorMicro', bigint>>;

/** What an attempt is accepted with whose quote has a ceiling. Times are epoch milliseconds. */
export type NewAuthorization = {
  terms: CaptureTerms;
  at: number;
  endsAt: number;
  settlementToken: string;
  caps: TabCaps;
};

/**
 * The payer's share of what may be open for a vendor: no payer keeps the others from a tab there.
 */
const PAYER_SHARE = 10n;

/** An attempt, the messages of its acceptance, and whether an hourly cap refuses it. */
export type Candidate = {
  attempt: Attempt;
  messages: readonly Message[];
  isOverCap?: boolean;
  /** Null: the whole amount is paid now. */
  authorization?: NewAuthorization | null;
};
const messagesOf = (candidates: readonly Candidate[]): Message[] =>
  candidates.flatMap(({ messages }) => messages);
type Evaluation = {
  decision: Decision;
  outbox: OutboxRow[];
  compared: ComparedLimit | null;
  open_micro: bigint | null;
  cap_micro: bigint | null;
};

/**
 * Accepts attempts by one statement, and by further ones for those that are deferred: they are
 * evaluated again on what the others have left. The first candidate of a statement is never
 * deferred, so this ends. Of several candidates for one quote, or with one attempt id, one is
 * accepted and the others get `conflict`.
 * @returns the evaluations in the order of the candidates
 */
export const acceptAttempts = async (db: Db, candidates: readonly Candidate[]): Promise<Evaluation[]> => {
  const evaluations = new Map<string, Evaluation>();
  for (let open = candidates; open.length > 0; ) {
    const rows = new Map((await evaluate(db, open)).map((row) => [row.settlement_id, row]));
    const deferred: Candidate[] = [];
    for (const candidate of open) {
      const { settlementId, delegateId, claims } = candidate.attempt;
      const { decision, outbox, ...figures } = rows.get(settlementId)!;
      if (decision === 'deferred') deferred.push(candidate);
      else
        evaluations.set(settlementId, {
          decision,
          open_micro: figures.open_micro,
          cap_micro: figures.cap_micro,
          outbox: insertedRows(messagesOf(open), outbox),
          compared: comparedOf(
            { decision, ...figures },
            { delegateId, askedMicro: parseMicro(claims.quote_amount) },
          ),
        });
    }
    if (deferred.length === open.length)
      throw new TypeError('The statement decided no attempt. This is a bug.');
    open = deferred;
  }
  return candidates.map(({ attempt }) => evaluations.get(attempt.settlementId)!);
};

/**
 * Accepts attempts whose quotes have a ceiling, as `acceptAttempts` does. What is open of their
 * payers and for their vendors is read after these are locked.
 */
export const acceptAuthorizations = (pool: Pool, candidates: readonly Candidate[]): Promise<Evaluation[]> =>
  pool.transaction(async (tx) => {
    await lockAuthorizing(tx, partiesOf(candidates.map(({ attempt }) => attempt)));
    return acceptAttempts(tx, candidates);
  });

/** The accounts between whom attempts authorize something. */
export const partiesOf = (attempts: readonly Attempt[]): string[] =>
  attempts.flatMap(({ accountId, claims }) => [accountId, claims.vendor_account_id]);

/** The columns of `input` with what is authorized and its bounds. */
export const cappedOf = (ceiling: string, caps: TabCaps) => ({
  ceiling,
  amount_cap: caps.amountMicro.toString(),
  new_payer_cap: caps.newPayerMicro.toString(),
  vendor_cap: caps.vendorMicro.toString(),
  share_cap: (caps.vendorMicro / PAYER_SHARE).toString(),
});

/** The columns of `input` that only an authorization has. */
const authorizationOf = (
  ceiling: string,
  { terms, at, endsAt, settlementToken, caps }: NewAuthorization,
) => ({
  ...cappedOf(ceiling, caps),
  mode: terms.mode,
  unit_price: terms.unit_price,
  threshold: terms.threshold,
  redeem_window_seconds: terms.window_seconds,
  settlement_token: byteaText(packToken(settlementToken)),
  settlement_token_hash: byteaText(tokenHash(settlementToken)),
  ends_at: endsAt,
  capped_at: at,
});

/** The row of CTE `input` for a candidate. */
export const inputOf = (
  { attempt: { claims, ...attempt }, isOverCap = false, authorization = null }: Candidate,
  ord: number,
) => ({
  ord,
  settlement_id: attempt.settlementId,
  account_id: attempt.accountId,
  payment_attempt_id: attempt.paymentAttemptId,
  delegate_id: attempt.delegateId,
  wallet_id: attempt.walletId,
  quote_id: claims.quote_id,
  quote_token: byteaText(packToken(attempt.quoteToken)),
  scope: claims.scope,
  vendor_account_id: claims.vendor_account_id,
  service_id: claims.service_id,
  payees: payeesOfQuote(claims),
  quote_amount: claims.quote_amount,
  fee_amount: claims.fee_amount,
  redeem_window_seconds: claims.redeem_window_seconds,
  units_total: prepaidUnits(claims.scope),
  expires_at: claims.expires_at,
  is_paid: attempt.isPaid ?? false,
  is_fresh: attempt.isFresh ?? false,
  is_over_cap: isOverCap,
  session_id: authorization === null ? null : (attempt.sessionId ?? null),
  ...(authorization !== null && authorizationOf(claims.quote_amount, authorization)),
});

/** CTE `input`. */
export const inputRows = (rows: readonly object[]) => sql.fragment`
  select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input(ord integer,
    settlement_id text, account_id text, payment_attempt_id text, delegate_id text, wallet_id text, quote_id text,
    quote_token bytea, scope json, vendor_account_id text, service_id uuid, payees jsonb, quote_amount bigint, fee_amount bigint,
    redeem_window_seconds integer, units_total integer, expires_at timestamptz, is_paid boolean, is_fresh boolean,
    is_over_cap boolean, ceiling bigint, mode text, unit_price bigint, threshold bigint,
    settlement_token bytea, settlement_token_hash bytea, ends_at float8, capped_at float8, amount_cap bigint,
    new_payer_cap bigint, vendor_cap bigint, share_cap bigint, session_id text)`;

/**
 * CTE `taken`: the keys of the input that have a payment. They are bound as an array, which uses
 * the index. A join with a JSON parameter, whose size the planner assumes, scanned all settlements.
 */
export const takenKeys = (attempts: readonly Attempt[]): Fragment =>
  keysAmong(
    attempts.flatMap(({ accountId, paymentAttemptId, claims }) => [
      attemptKeyOf(accountId, paymentAttemptId),
      claims.quote_id,
    ]),
  );

/** CTE `candidate`: the input with what the snapshot has of attempt and quote. */
export const candidatesWithRecords = (hasCeilings: boolean) => sql.fragment`
  select input.*, existing.found as is_existing, settled.found as is_settled,
    ${hasCeilings ? tabsOfInput : noTabs}
  from input ${hasCeilings ? joinTabs : sql.fragment``}
  left join taken as existing on ${isAttemptKey('existing')}
  left join taken as settled on settled.kind = 'quote' and settled.key = input.quote_id`;

const noTabs = sql.fragment`0::numeric as open_of_payer, 0::numeric as open_of_vendor, 0::numeric as open_of_share,
    false as has_history`;
const tabsOfInput = sql.fragment`
    coalesce(of_payer.micro, 0) as open_of_payer, coalesce(of_vendor.micro, 0) as open_of_vendor,
    coalesce(of_share.micro, 0) as open_of_share,
    input.ceiling is not null and exists (
      select from settlements as s where s.account_id = input.account_id and s.chain_status = 'finalized'
    ) as has_history`;
const joinTabs = sql.fragment`
  left join open_tabs as of_payer on of_payer.payer = input.account_id and of_payer.vendor is null
    and input.ceiling is not null
  left join open_tabs as of_vendor on of_vendor.vendor = input.vendor_account_id and of_vendor.payer is null
    and input.ceiling is not null
  left join open_tabs as of_share on of_share.payer = input.account_id and of_share.vendor = input.vendor_account_id
    and input.ceiling is not null`;

/**
 * CTE `open_tabs`: what is authorized and not paid of the payers of the input, in all and for each
 * vendor, and for its vendors. The sums are those of the snapshot, so an earlier statement of the
 * transaction has locked payers and vendors (`lockAuthorizing`).
 */
export const openTabs = sql.fragment`
  select account_id as payer, vendor_account_id as vendor, sum(ceiling) as micro from authorizations
  where due_at is not null
    and account_id = any(array(select account_id from input where ceiling is not null))
  group by grouping sets ((account_id), (account_id, vendor_account_id))
  union all
  select null, vendor_account_id, sum(ceiling) from authorizations
  where due_at is not null
    and vendor_account_id = any(array(select vendor_account_id from input where ceiling is not null))
  group by vendor_account_id`;

/**
 * The columns `open_micro` and `cap_micro` of an acceptance: what is open where that is the reason,
 * and its cap.
 * @param ceiling that the authorization has already
 */
export const tabFigures = (decision: Fragment, ceiling = sql.fragment`null`): Fragment => sql.fragment`
  case ${decision} when 'over_tab_amount' then ${ceiling} when 'over_tab_new_payer' then open_of_payer
    when 'over_tab_share' then open_of_share when 'over_tab_vendor' then open_of_vendor end::bigint as open_micro,
  case ${decision} when 'over_tab_amount' then amount_cap when 'over_tab_new_payer' then new_payer_cap
    when 'over_tab_share' then share_cap when 'over_tab_vendor' then vendor_cap end as cap_micro`;

/** CTE `approval`: an approval is for one quote, and the quote fixes the rest. */
export const lockApprovalsOfQuotes = lockApprovals(sql.fragment`a.quote_id = candidate.quote_id`);

/** CTE `evaluated`: each candidate's decision as if it were the only one of the statement. */
export const evaluateEach = (refusals: Readonly<Record<string, Refusal>>) => sql.fragment`
  select candidate.*, payer.balance, payer.balance_left, payer.allowance, payer.allowance_left,
    ${countedIn}, ${capsOf},
    case
      when is_existing then 'existing'
      when is_settled then 'quote_settled'
      when candidate.is_paid then case when ${isPayerUnknown} then 'payer_unknown' else 'accepted' end
      ${firstOf(refusals)}
      else 'accepted'
    end as own_decision
  from candidate
  left join payer on payer.wallet_id = candidate.wallet_id
  left join delegate on ${isLimitedBy}`;

/**
 * CTE `queued`: with the sums that the candidates of one wallet or delegate need one after another.
 */
const queue = sql.fragment`
  select evaluated.*,
    open_of_payer + sum(ceiling) over (partition by account_id, own_decision order by ord) as tabs_of_payer,
    open_of_vendor + sum(ceiling) over (partition by vendor_account_id, own_decision order by ord) as tabs_of_vendor,
    open_of_share + sum(ceiling) over (partition by account_id, vendor_account_id, own_decision order by ord) as tabs_of_share,
    sum(quote_amount) over (partition by wallet_id, own_decision order by ord) as of_wallet,
    sum(quote_amount) over (partition by ${limitsOf('evaluated')}, own_decision order by ord) as of_delegate
  from evaluated`;

/** CTE `decided`: defers the candidates that do not fit after the earlier ones. */
const decide = sql.fragment`
  select queued.*,
    case
      when own_decision <> 'accepted' or is_paid then own_decision
      when least(balance_left, allowance_left) < of_wallet then 'deferred'
      when ${leastLeftOfCaps} < of_delegate then 'deferred'
      when not has_history and tabs_of_payer > new_payer_cap or tabs_of_vendor > vendor_cap
        or tabs_of_share > share_cap then 'deferred'
      else 'accepted'
    end as decision
  from queued`;

const insertAccepted = sql.fragment`
  insert into settlements (settlement_id, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
    quote_token, scope, vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, units_total,
    ${countedIn}, is_authorization, status, chain_status, under_way_since, expires_from, settlement_token,
    settlement_token_hash)
  select ${claimedId(ATTEMPT_AND_QUOTE)}, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id, quote_token, scope,
    vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, units_total, ${countedIn},
    ceiling is not null, case when ceiling is null then 'pending' else 'authorized' end,
    case when ceiling is null then 'pending' else 'none' end, case when ceiling is null then app_now() end,
    case when ceiling is null then app_now() + redeem_window_seconds * interval '1 second' end, settlement_token,
    settlement_token_hash
  from decided join claimed using (settlement_id)
  returning settlement_id, account_id, wallet_id, delegate_id, quote_amount`;

/** CTE `authorized`: what the accepted ones with a ceiling have besides. */
const insertAuthorizations = sql.fragment`
  insert into authorizations (settlement_id, account_id, vendor_account_id, wallet_id, session_id, mode, ceiling,
    unit_price_pico, threshold, ends_at, due_at, capped_at)
  select settlement_id, account_id, vendor_account_id, wallet_id, session_id, mode, ceiling,
    ${picoOf(sql.fragment`unit_price`)}, threshold,
    to_timestamp(ends_at / 1000), to_timestamp(ends_at / 1000), to_timestamp(capped_at / 1000)
  from decided where ceiling is not null and settlement_id in (select settlement_id from inserted)`;

/**
 * Evaluates candidates in one statement, so one round trip and one commit: checks in rank order,
 * and for each accepted one the attempt, the holds, the settlement row and the outbox rows, all or
 * none of it (rules 1 to 6).
 *
 * Rows of delegates, then of payers, are locked in the order of their ids, as in every statement
 * that locks both. Holds are therefore computed from the newest versions. `existing` and
 * `quote_settled` come from the statement's snapshot, so the keys decide last: an attempt whose
 * keys are taken is a `conflict`, and one that gets only a part of them fails the statement
 * (../../keys/). The hold: gross ≤ min(balance, allowance) − held on the last known chain state; of
 * a delegate, or of a sign-in's account, gross ≤ cap − held − spent for each of its caps.
 *
 * An approval's row is locked after those: a decision about it locks no delegate and no payer.
 *
 * Each candidate is evaluated as if it were the only one. A refusal is then correct, because the
 * candidate could have come first. Those of one wallet or delegate that could be accepted this way
 * hold their amounts one after another. One that no longer fits is `deferred`, not refused: an
 * earlier one may still fail by its other amount or by its quote.
 */
const evaluate = (db: Db, candidates: readonly Candidate[]): Promise<readonly z.infer<typeof Row>[]> => {
  const hasCeilings = candidates.some(({ authorization }) => authorization != null);
  return db.any(sql.type(Row)`
    with input as (${inputRows(candidates.map(inputOf))}), taken as (${takenKeys(candidates.map(({ attempt }) => attempt))}),
    ${hasCeilings ? sql.fragment`open_tabs as (${openTabs}),` : sql.fragment``} candidate as (${candidatesWithRecords(hasCeilings)}), delegate as (${lockDelegates}), payer as (${lockPayers}),
    approval as (${lockApprovalsOfQuotes}),
    evaluated as (${evaluateEach(SETTLE_REFUSALS)}), queued as (${queue}), decided as (${decide}),
    ${claimKeys(ATTEMPT_AND_QUOTE, { cte: 'decided', accepted: sql.fragment`decision = 'accepted'` })}, inserted as (${insertAccepted}),
    ${hasCeilings ? sql.fragment`authorized as (${insertAuthorizations}),` : sql.fragment``}
    payer_hold as (${holdPayers}), delegate_hold as (${holdDelegates}),
    ${publishMatching(
      messagesOf(candidates),
      'settlement_id',
      sql.fragment`join inserted on inserted.settlement_id = message.payload ->> 'settlement_id'`,
    )}
    select decided.settlement_id, coalesce(published.outbox, '[]'::jsonb) as outbox,
      case when decided.decision = 'accepted' and inserted.settlement_id is null then 'conflict' else decided.decision end
        as decision,
      ${tabFigures(sql.fragment`decided.decision`)},
      ${comparedWith(sql.fragment`decided.decision`)}
    from decided
    left join inserted on inserted.settlement_id = decided.settlement_id
    left join published on published.settlement_id = decided.settlement_id`);
};
