import { z } from 'zod';
import { MAX_EXTENSIONS } from '../../../../shared/contract/chain-submitter.ts';
import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import { insertEvents, outboxColumn } from '../../../../shared/events/outbox.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { countedIn, holdDelegates, lockDelegates } from '../../delegates/store.ts';
import { holdPayers, lockPayers } from '../../payers/store.ts';
import {
  type Attempt,
  type Candidate,
  candidatesWithRecords,
  cappedOf,
  evaluateEach,
  inputOf,
  inputRows,
  lockApprovalsOfQuotes,
  openTabs,
  partiesOf,
  type TabCaps,
  tabFigures,
} from './accept-attempts.ts';
import { lockAuthorizing } from './authorization-locks.ts';
import { allows, isUsable } from './conditions.ts';
import { about } from './end-events.ts';
import { type ComparedLimit, comparedOf, comparedShape, comparedWith } from './limits.ts';
import { EXTENSION_REFUSALS, namesOf } from './refusals.ts';

/** An attempt whose quote raises the ceiling of an authorization. */
export type Extension = {
  attempt: Attempt;
  /** The quote of the authorization, and how a part of it is captured. */
  extended: string;
  terms: NonNullable<QuoteClaims['capture']>;
  caps: TabCaps;
} & Required<Pick<Candidate, 'isOverCap'>>;

/** As of `acceptAttempts`. */
const DECISIONS = [
  'accepted',
  'existing',
  'quote_settled',
  ...namesOf(EXTENSION_REFUSALS),
  'conflict',
] as const;
export type ExtensionDecision = (typeof DECISIONS)[number];

/** The authorization as it is after its extension. Null of an attempt that is not accepted. */
const raisedShape = {
  raised_id: z.string().nullable(),
  raised_token: packedToken.nullable(),
  raised_ceiling: z.bigint().nullable(),
  raised_ends_at: z.number().nullable(),
};
const Row = z.object({
  decision: z.enum(DECISIONS),
  outbox: outboxColumn,
  open_micro: z.bigint().nullable(),
  cap_micro: z.bigint().nullable(),
  ...raisedShape,
  ...comparedShape,
});

/** An authorization whose ceiling was raised. `endsAt`: epoch milliseconds. */
export type Raised = { settlementId: string; settlementToken: string; maxMicro: bigint; endsAt: number };
type Evaluation = Pick<z.infer<typeof Row>, 'decision' | 'outbox' | 'open_micro' | 'cap_micro'> & {
  compared: ComparedLimit | null;
  raised: Raised | null;
};

/**
 * CTE `target`: the authorization, locked, if it is open and was made by the same payer and
 * credential for the same service. The conditions are those of its newest version.
 */
const lockTarget = (quoteId: string) => sql.fragment`
  select s.settlement_id as extends, s.max_amount as ceiling, s.${countedIn} as counted_day
  from settlements as s join input on s.account_id = input.account_id and s.wallet_id = input.wallet_id
    and s.service_id = input.service_id and s.delegate_id is not distinct from input.delegate_id
  where s.paying_quote_id = ${quoteId} and s.max_amount is not null and ${allows('extend')} and ${isUsable}
    and coalesce(s.extensions, 0) < ${MAX_EXTENSIONS}
  for update of s`;

const insertExtension = sql.fragment`
  insert into settlements (settlement_id, extends, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
    quote_token, scope, vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
    ${countedIn}, status, chain_status, holding)
  select settlement_id, extends, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id, quote_token, scope,
    vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, ${countedIn}, 'merged', 'none', false
  from evaluated where own_decision = 'accepted'
  on conflict do nothing
  returning settlement_id, extends, account_id, wallet_id, delegate_id, quote_id, quote_amount`;

/**
 * CTE `changed`: the authorization with the higher ceiling, which it holds. Its fee is that of the
 * ceiling by the rule that its quote fixed (shared/lib/money/fee.ts).
 */
const raise = ({ fee }: Extension['terms']) => sql.fragment`
  update settlements as s set max_amount = s.max_amount + inserted.quote_amount,
    quote_amount = s.quote_amount + inserted.quote_amount, extensions = coalesce(s.extensions, 0) + 1,
    fee_amount = greatest(${parseMicro(fee.min)}::bigint,
      (s.max_amount + inserted.quote_amount) * ${BigInt(fee.bps)}::bigint / 10000)
  from inserted where s.settlement_id = inserted.extends
  returning s.settlement_id, s.rail, s.quote_id, s.scope, s.account_id, s.delegate_id, s.wallet_id, s.payer_address,
    s.service_id, s.vendor_account_id, s.quote_amount, s.fee_amount, s.settlement_token, s.max_amount,
    s.redeem_expires_at, inserted.settlement_id as extension_id, inserted.quote_id as extension_quote_id,
    inserted.quote_amount as added`;

const extendedEvents = (traceparent: string | null) =>
  insertEvents('settlement.extended', {
    from: sql.fragment`changed`,
    traceparent: sql.fragment`${traceparent}::text`,
    fields: {
      ...about,
      extension_id: sql.fragment`changed.extension_id`,
      extension_quote_id: sql.fragment`changed.extension_quote_id`,
      added: sql.fragment`changed.added::text`,
    },
  });

/**
 * Accepts an extension: checks in rank order, and for an accepted one its row, the higher ceiling,
 * the holds and the event in one commit (rules 24 and 25). What is open is read after payer and
 * vendor are locked, by a statement that locks the authorization, then delegate and payer's wallet,
 * as where it is captured.
 */
export const acceptExtension = (
  pool: Pool,
  extension: Extension,
  traceparent: string | null,
): Promise<Evaluation> =>
  pool.transaction(async (tx) => {
    await lockAuthorizing(tx, partiesOf([extension.attempt]));
    return evaluate(tx, extension, traceparent);
  });

const evaluate = async (
  db: Db,
  { attempt, extended, terms, caps, isOverCap }: Extension,
  traceparent: string | null,
): Promise<Evaluation> => {
  const added = attempt.claims.quote_amount;
  const input = { ...inputOf({ attempt, messages: [], isOverCap }, 0), ...cappedOf(added, caps) };
  const row = await db.one(sql.type(Row)`
    with input as (${inputRows([input])}), open_tabs as (${openTabs}), target as (${lockTarget(extended)}),
    candidate as (
      select of_input.*, target.extends, target.ceiling, target.counted_day
      from (${candidatesWithRecords}) as of_input left join target on true
    ), delegate as (${lockDelegates}), payer as (${lockPayers}), approval as (${lockApprovalsOfQuotes}),
    evaluated as (${evaluateEach(EXTENSION_REFUSALS)}), inserted as (${insertExtension}), changed as (${raise(terms)}),
    payer_hold as (${holdPayers}), delegate_hold as (${holdDelegates}), published as (${extendedEvents(traceparent)})
    select coalesce((select jsonb_agg(to_jsonb(published)) from published), '[]'::jsonb) as outbox,
      case when own_decision = 'accepted' and changed.settlement_id is null then 'conflict' else own_decision end as decision,
      ${tabFigures(sql.fragment`own_decision`, sql.fragment`ceiling`)},
      changed.settlement_id as raised_id, changed.settlement_token as raised_token,
      changed.max_amount as raised_ceiling, changed.redeem_expires_at as raised_ends_at,
      ${comparedWith(sql.fragment`own_decision`)}
    from evaluated left join changed on true`);
  const { decision, outbox, open_micro, cap_micro, raised_id } = row;
  return {
    decision,
    outbox,
    open_micro,
    cap_micro,
    compared: comparedOf(row, { delegateId: attempt.delegateId, askedMicro: parseMicro(added) }),
    raised:
      raised_id === null
        ? null
        : {
            settlementId: raised_id,
            settlementToken: row.raised_token!,
            maxMicro: row.raised_ceiling!,
            endsAt: row.raised_ends_at!,
          },
  };
};
