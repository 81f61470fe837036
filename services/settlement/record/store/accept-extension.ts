import { z } from 'zod';
import { MAX_EXTENSIONS } from '../../../../shared/contract/chain-submitter.ts';
import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type Db, type Pool, sql } from '../../../../shared/db/pool.ts';
import { insertEvents, outboxColumn } from '../../../../shared/events/outbox.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { countedIn, holdDelegates, lockDelegates } from '../../delegates/store.ts';
import { ATTEMPT_AND_QUOTE, claimedId, claimKeys, ofQuote } from '../../keys/store.ts';
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
  takenKeys,
} from './accept-attempts.ts';
import { lockAuthorizing } from './authorization-locks.ts';
import { allows, isUsableRow } from './conditions.ts';
import { about } from './end-events.ts';
import { type ComparedLimit, comparedOf, comparedShape, comparedWith } from './limits.ts';
import { EXTENSION_REFUSALS, namesOf } from './refusals.ts';

/** An attempt whose quote adds to the ceiling of an authorization. */
export type Extension = {
  /** Its id is that of the extension. */
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
const extendedShape = {
  extended_id: z.string().nullable(),
  extended_token: packedToken.nullable(),
  extended_ceiling: z.bigint().nullable(),
  extended_ends_at: z.number().nullable(),
};
const Row = z.object({
  decision: z.enum(DECISIONS),
  outbox: outboxColumn,
  open_micro: z.bigint().nullable(),
  cap_micro: z.bigint().nullable(),
  ...extendedShape,
  ...comparedShape,
});

/** An authorization that was extended. `endsAt`: epoch milliseconds. */
export type Extended = {
  extensionId: string;
  settlementId: string;
  settlementToken: string;
  maxMicro: bigint;
  endsAt: number;
};
type Evaluation = Pick<z.infer<typeof Row>, 'decision' | 'outbox' | 'open_micro' | 'cap_micro'> & {
  compared: ComparedLimit | null;
  extended: Extended | null;
};

/**
 * CTE `target`: the authorization, locked, if it is open and was made by the same payer and
 * credential for the same service. The conditions are those of its newest version.
 */
const lockTarget = (quoteId: string) => sql.fragment`
  select s.settlement_id as target_id, a.ceiling as extended_ceiling, s.${countedIn} as counted_day
  from settlements as s join authorizations as a using (settlement_id)
    join input on s.account_id = input.account_id and s.wallet_id = input.wallet_id
    and s.service_id = input.service_id and s.delegate_id is not distinct from input.delegate_id
  where s.settlement_id = ${ofQuote(quoteId)} and s.quote_id = ${quoteId} and ${allows('extend')} and ${isUsableRow}
    and a.extensions < ${MAX_EXTENSIONS}
  for update of s, a`;

/** CTE `extension`. */
const insertExtension = sql.fragment`
  insert into extensions (extension_id, settlement_id, account_id, payment_attempt_id, quote_id, quote_token, amount)
  select evaluated.settlement_id, ${claimedId(ATTEMPT_AND_QUOTE)}, account_id, payment_attempt_id, quote_id, quote_token,
    quote_amount
  from evaluated join claimed on claimed.settlement_id = evaluated.target_id
  returning extension_id, settlement_id, quote_id, amount`;

/**
 * CTE `changed`: the authorization with the higher ceiling, which it holds. Its fee is that of the
 * ceiling by the rule that its quote fixed (shared/lib/money/fee.ts).
 */
const extend = ({ fee }: Extension['terms']) => sql.fragment`
  update settlements as s set quote_amount = s.quote_amount + extension.amount,
    fee_amount = greatest(${parseMicro(fee.min)}::bigint,
      (s.quote_amount + extension.amount) * ${BigInt(fee.bps)}::bigint / 10000)
  from extension where s.settlement_id = extension.settlement_id
  returning s.settlement_id, s.rail, s.quote_id, s.scope, s.account_id, s.delegate_id, s.wallet_id,
    null::text as payer_address, s.service_id, s.vendor_account_id, s.quote_amount, s.fee_amount, s.settlement_token,
    extension.extension_id, extension.quote_id as extension_quote_id, extension.amount as added`;

/** CTE `inserted`: what is held besides. */
const added = sql.fragment`select account_id, wallet_id, delegate_id, added as quote_amount from changed`;

/** CTE `extended`: the same of its other row. */
const extendCeiling = sql.fragment`
  update authorizations as a set ceiling = a.ceiling + extension.amount, extensions = a.extensions + 1
  from extension where a.settlement_id = extension.settlement_id
  returning a.ceiling, a.ends_at`;

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
  const amount = attempt.claims.quote_amount;
  const input = { ...inputOf({ attempt, messages: [], isOverCap }, 0), ...cappedOf(amount, caps) };
  const row = await db.one(sql.type(Row)`
    with input as (${inputRows([input])}), taken as (${takenKeys([attempt])}), open_tabs as (${openTabs}), target as (${lockTarget(extended)}),
    candidate as (
      select of_input.*, target.target_id, target.extended_ceiling, target.counted_day
      from (${candidatesWithRecords(true)}) as of_input left join target on true
    ), delegate as (${lockDelegates}), payer as (${lockPayers}), approval as (${lockApprovalsOfQuotes}),
    evaluated as (${evaluateEach(EXTENSION_REFUSALS)}),
    ${claimKeys(ATTEMPT_AND_QUOTE, {
      cte: 'evaluated',
      accepted: sql.fragment`own_decision = 'accepted'`,
      leadsTo: sql.fragment`target_id`,
    })}, extension as (${insertExtension}), changed as (${extend(terms)}), extended as (${extendCeiling}),
    inserted as (${added}),
    payer_hold as (${holdPayers}), delegate_hold as (${holdDelegates}), published as (${extendedEvents(traceparent)})
    select coalesce((select jsonb_agg(to_jsonb(published)) from published), '[]'::jsonb) as outbox,
      case when own_decision = 'accepted' and changed.settlement_id is null then 'conflict' else own_decision end as decision,
      ${tabFigures(sql.fragment`own_decision`, sql.fragment`extended_ceiling`)},
      changed.settlement_id as extended_id, changed.settlement_token as extended_token,
      extended.ceiling as extended_ceiling, extended.ends_at as extended_ends_at,
      ${comparedWith(sql.fragment`own_decision`)}
    from evaluated left join changed on true left join extended on true`);
  const { decision, outbox, open_micro, cap_micro, extended_id } = row;
  return {
    decision,
    outbox,
    open_micro,
    cap_micro,
    compared: comparedOf(row, { delegateId: attempt.delegateId, askedMicro: parseMicro(amount) }),
    extended:
      extended_id === null
        ? null
        : {
            extensionId: attempt.settlementId,
            settlementId: extended_id,
            settlementToken: row.extended_token!,
            maxMicro: row.extended_ceiling!,
            endsAt: row.extended_ends_at!,
          },
  };
};
