import { ServiceError } from '../../../../shared/contract/errors.ts';
import { CAPS, type CapName, WALLET_LIMITS, type WalletLimit } from '../../../../shared/contract/limits.ts';
import { sql } from '../../../../shared/db/pool.ts';
import { lacksApproval } from '../../approvals/store/approvals.ts';
import { declined, overLimit } from '../../declines/model.ts';
import { type ComparedLimit, isOverCap, isShort } from './limits.ts';

/*
 * Why a payment is refused by the statement that would accept it. A refusal is declared here, or
 * for a payment to another vendor in outgoing-refusals.ts: its condition, its error, and by its
 * place its rank (docs/recipes/refusal.md).
 */

type Fragment = ReturnType<typeof sql.fragment>;

/** What the statement returned with a decision. */
type Evaluated = {
  compared: ComparedLimit | null;
  /** What is authorized already where that is the reason, and the cap. */
  open_micro?: bigint | null | undefined;
  cap_micro?: bigint | null | undefined;
  /** How long an outgoing payment's payee stays paused. */
  paused_seconds?: number | null;
};

export type Refusal = {
  /** The condition, over the CTEs `candidate`, `delegate`, `payer` and `approval`. */
  when: Fragment;
  error: (evaluated: Evaluated) => ServiceError;
};

const internal = (): ServiceError => new ServiceError('internal_error', 'internal error');

/** The statement returns the figures of each refusal by a limit. */
const ofLimit = ({ compared }: Evaluated): ServiceError =>
  compared === null ? internal() : overLimit(compared.name, compared);

/** The decisions of refusals, in rank order. */
export const namesOf = <D extends string>(refusals: Readonly<Record<D, Refusal>>): D[] =>
  Object.keys(refusals) as D[];

/** The `case` branches that decide for the first refusal whose condition holds. */
export const firstOf = (refusals: Readonly<Record<string, Refusal>>): Fragment => {
  const branches = Object.entries(refusals).map(
    ([decision, { when }]) => sql.fragment`when ${when} then ${sql.literalValue(decision)}`,
  );
  return sql.fragment`${sql.join(branches, sql.fragment`\n      `)}`;
};

export const OF_DELEGATE = {
  /** This database has no caps of the delegate, which is not the same as no limit. */
  delegate_unknown: {
    when: sql.fragment`candidate.delegate_id is not null and delegate.delegate_id is null`,
    error: () => declined('delegate_unknown', 'the limits of this delegate are not known here'),
  },
  delegate_paused: {
    when: sql.fragment`delegate.paused`,
    error: () => declined('delegate_paused', 'the owner of this delegate has paused it'),
  },
} satisfies Record<string, Refusal>;

/** The caps of the delegate, or of the account for a sign-in. */
export const OF_CAPS = Object.fromEntries(
  CAPS.map((name) => [`over_${name}`, { when: isOverCap(name), error: ofLimit }]),
) as Record<`over_${CapName}`, Refusal>;

/**
 * Whether the wallet has no snapshot, or its account no limits. Both are stored together
 * (`upsertPayer`), so nothing is accepted from an account without limits.
 */
export const isPayerUnknown = sql.fragment`(payer.wallet_id is null
  or candidate.delegate_id is null and delegate.delegate_id is null)`;

/** A newer snapshot of the wallet may change these. */
export const OF_WALLET = {
  payer_unknown: { when: isPayerUnknown, error: internal },
  ...(Object.fromEntries(
    WALLET_LIMITS.map((name) => [`${name}_short`, { when: isShort(name), error: ofLimit }]),
  ) as Record<`${WalletLimit}_short`, Refusal>),
} satisfies Record<string, Refusal>;

const tabRefusal =
  (reason: 'tab_amount' | 'tab_new_payer' | 'tab_share' | 'tab_vendor', bound: string) =>
  ({ open_micro, cap_micro }: Evaluated): ServiceError =>
    declined(
      reason,
      `at most ${cap_micro ?? 0n} micro-units may be authorized ${bound}, and ${open_micro ?? 0n} are open: pay a quote with a smaller ceiling, or wait until open ones are captured`,
      { safe_action: 'new_quote' },
    );

/** What is authorized and not paid is bounded, because a payer can empty its wallet. */
const OF_TABS = {
  over_tab_amount: {
    when: sql.fragment`candidate.ceiling > candidate.amount_cap`,
    error: tabRefusal('tab_amount', 'by one quote'),
  },
  over_tab_new_payer: {
    when: sql.fragment`not candidate.has_history and candidate.open_of_payer + candidate.ceiling > candidate.new_payer_cap`,
    error: tabRefusal('tab_new_payer', 'by a payer without a final payment'),
  },
  over_tab_share: {
    when: sql.fragment`candidate.open_of_share + candidate.ceiling > candidate.share_cap`,
    error: tabRefusal('tab_share', 'by one payer for one vendor'),
  },
  over_tab_vendor: {
    when: sql.fragment`candidate.open_of_vendor + candidate.ceiling > candidate.vendor_cap`,
    error: tabRefusal('tab_vendor', 'for one vendor'),
  },
} satisfies Record<string, Refusal>;

/** Their callers answer these (../../approvals/request-approval.ts, ../../core/hourly-caps.ts). */
export const LAST = {
  /** The delegate needs an approval of its owner, and this payment does not have it. */
  approval_required: { when: lacksApproval, error: internal },
  /** The hourly cap is the only reason. */
  over_hourly_cap: { when: sql.fragment`candidate.is_over_cap`, error: internal },
} satisfies Record<string, Refusal>;

/** Of a settle, in rank order. */
export const SETTLE_REFUSALS = {
  quote_expired: {
    when: sql.fragment`candidate.expires_at <= app_now()`,
    error: () => declined('quote_expired', 'the quote has expired', { safe_action: 'new_quote' }),
  },
  ...OF_DELEGATE,
  service_not_allowed: {
    when: sql.fragment`not candidate.service_id = any(delegate.allowed_service_ids)`,
    error: () => declined('service_not_allowed', 'this delegate may not pay this service'),
  },
  ...OF_CAPS,
  ...OF_WALLET,
  ...OF_TABS,
  ...LAST,
} satisfies Record<string, Refusal>;

/** Of an extension. Its authorization is locked as CTE `target`, if it can be extended at all. */
export const EXTENSION_REFUSALS = {
  authorization_closed: {
    when: sql.fragment`candidate.target_id is null or candidate.counted_day is distinct from delegate.delegate_day`,
    error: () =>
      declined(
        'authorization_closed',
        'the authorization cannot be extended: it has ended, its wallet no longer covers it, it was extended too often, or it was made by another credential or on another day (UTC); pay a new quote of the vendor',
        { safe_action: 'new_quote' },
      ),
  },
  ...SETTLE_REFUSALS,
  over_tab_amount: {
    ...SETTLE_REFUSALS.over_tab_amount,
    when: sql.fragment`candidate.extended_ceiling + candidate.ceiling > candidate.amount_cap`,
  },
} satisfies Record<string, Refusal>;
