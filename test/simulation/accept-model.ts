import { LIMITS, WALLET_LIMITS } from '../../shared/contract/limits.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import type { Payee } from '../../shared/lib/money/payees.ts';
import type { ApprovalsTables } from './approvals-tables.ts';
import { EPOCH, type Model, model, tokenOf } from './database.ts';
import { extensionModel } from './extension-model.ts';
import type { Harness } from './harness.ts';
import {
  type Delegate,
  extensionsOf,
  hasHistory,
  isPayingQuote,
  leftOfCaps,
  limitsOf,
  type Payer,
  type Settlement,
} from './settlement-rows.ts';

/** An attempt as services/settlement/record/store/accept-attempts.ts binds it as JSON. */
type Values = {
  settlement_id: string;
  account_id: string;
  payment_attempt_id: string;
  delegate_id: string | null;
  wallet_id: string;
  quote_id: string;
  quote_token: string;
  scope: QuoteClaims['scope'];
  vendor_account_id: string;
  service_id: string;
  payees: readonly Payee[];
  quote_amount: bigint;
  fee_amount: bigint;
  redeem_window_seconds: number;
  units_total: number | null;
  expires_at: string;
  is_fresh: boolean;
  /** Of an authorization. */
  max_amount?: string;
  capture_mode?: 'manual' | 'usage';
  unit_price?: string | null;
  capture_threshold?: string | null;
  settlement_token?: string;
  ends_at?: number;
  new_payer_cap?: string;
};

/** How long another statement may hold the row of a payer. */
const LOCK_WAIT_MS = 2000;

/** The columns of a payment that is made at once, or holds nothing. */
const NOTHING_AUTHORIZED = {
  ...{ max_amount: null, capture_mode: null, unit_price: null },
  ...{ capture_threshold: null, settlement_token: null, redeem_expires_at: null, capture_due_at: null },
  ...{ capture_retry_at: null, capturing_at: null },
  ...{ at_risk_at: null, voided_at: null, usable: false },
} as const;

/** The columns in which an authorization differs from a payment. */
const authorizationOf = ({ max_amount, ...values }: Values): Partial<Settlement> =>
  max_amount === undefined
    ? {}
    : {
        ...{ status: 'authorized', chain_status: 'none', max_amount: BigInt(max_amount) },
        capture_mode: values.capture_mode ?? null,
        capture_threshold: values.capture_threshold == null ? null : BigInt(values.capture_threshold),
        settlement_token: tokenOf(values.settlement_token!),
        redeem_expires_at: values.ends_at!,
        capture_due_at: values.ends_at!,
      };

const isOver = (cap: bigint | null, amount: bigint): boolean => cap !== null && cap < amount;

/**
 * The model of acceptance. `evaluate` makes the decisions of the statement's step `evaluated` in
 * the same order. A further refusal is a further line in each. The step `decided` holds the amounts
 * of one wallet in order. Rows of other transactions are read from the snapshot, so the unique
 * indexes decide last. Rows that the statement locks (`for update`) are read in their newest
 * version.
 */
export const acceptModels = (
  harness: Harness,
  {
    settlements,
    payers,
    delegates,
    approvals,
    isUsable,
    insertOutbox,
  }: {
    settlements: Map<string, Settlement>;
    payers: Map<string, Payer>;
    delegates: Map<string, Delegate>;
    approvals: ApprovalsTables;
    isUsable: (row: Settlement) => boolean;
    insertOutbox: (json: string) => unknown[];
  },
): Model[] => {
  const { now, random, off } = harness;
  const appNow = () => EPOCH + now();
  /** When each row became visible, because a snapshot may be older. */
  const insertedAt = new Map<string, number>();
  const isAttempt = (row: Settlement, { account_id, payment_attempt_id }: Values) =>
    row.account_id === account_id && row.payment_attempt_id === payment_attempt_id;
  const isPaying = (row: Settlement, { quote_id }: Values) => row.quote_id === quote_id && isPayingQuote(row);

  const leftOf = (delegate: Delegate) =>
    leftOfCaps(delegate, off === 'limits of a delegate' ? delegate.spent : delegate.held + delegate.spent);
  /** Whether no limit refuses it: a sign-in of the last minutes may exceed those of its account. */
  const isUnlimited = ({ delegate_id, is_fresh }: Values): boolean =>
    is_fresh || (delegate_id === null && off === 'limits of an account');
  const heldOf = (payer: Payer): bigint => (off === 'conditional holds' ? 0n : payer.held);

  const isVisible = (row: Settlement, snapshot: number): boolean =>
    insertedAt.get(row.settlement_id)! <= snapshot;
  const snapshotNow = (): number => {
    const ageMs = random.between(0, 30);
    return now() - (harness.isReplayed() ? 0 : ageMs);
  };

  /** When a transaction has locked the accounts between whom something is authorized. */
  let lockedAt = -1;
  /**
   * What is authorized by an account, as a statement reads it: after the lock of its transaction
   * nobody adds to it.
   */
  const openOf = ({ account_id }: Values, snapshot: number): bigint => {
    // A statement that waits for a row of the payer reads what was open before.
    const isBefore = off === 'authorized: summed after the lock';
    const moment = lockedAt === now() && !isBefore ? now() : snapshot - (isBefore ? LOCK_WAIT_MS : 0);
    return [...settlements.values()]
      .filter((row) => row.account_id === account_id && row.status === 'authorized')
      .reduce((sum, row) => sum + ceilingAt(row, moment), 0n);
  };
  /** The ceiling of an open authorization at a moment: extensions may have raised it since then. */
  const ceilingAt = (row: Settlement, moment: number): bigint => {
    if (!isVisible(row, moment)) return 0n;
    const later = extensionsOf(settlements, row).filter((one) => !isVisible(one, moment));
    return later.reduce((ceiling, { quote_amount }) => ceiling - quote_amount, row.quote_amount);
  };
  const exceedsNewPayer = ({ account_id, new_payer_cap: cap, quote_amount }: Values, open: bigint): boolean =>
    cap !== undefined && !hasHistory(settlements, account_id) && open + quote_amount > BigInt(cap);

  /** @param first the refusals that have precedence over those of a settle */
  const evaluate = (values: Values, snapshot: number, first = (): string | null => null): string => {
    const seen = [...settlements.values()].filter((row) => isVisible(row, snapshot));
    const isExisting = seen.some((row) => isAttempt(row, values));
    const payer = payers.get(values.wallet_id);

    if (isExisting && off !== 'attempt read first') return 'existing';
    if (seen.some((row) => isPaying(row, values))) return 'quote_settled';
    const own = first();
    if (own !== null) return own;
    if (Date.parse(values.expires_at) <= appNow()) return 'quote_expired';
    const delegate = delegates.get(limitsOf(values));
    if (delegate === undefined && values.delegate_id !== null) return 'delegate_unknown';
    if (delegate !== undefined && !isUnlimited(values)) {
      const over = leftOf(delegate).find(({ left }) => isOver(left, values.quote_amount));
      if (over !== undefined) return `over_${over.name}`;
    }
    if (payer === undefined || delegate === undefined) return 'payer_unknown';
    const short = WALLET_LIMITS.find((name) => payer[name] - heldOf(payer) < values.quote_amount);
    if (short !== undefined) return `${short}_short`;
    if (exceedsNewPayer(values, openOf(values, snapshot))) return 'over_tab_new_payer';
    if (approvals.isLacking(values, snapshot)) return 'approval_required';
    return isExisting ? 'existing' : 'accepted';
  };

  /** The limit that a decision compared the amount with. */
  const comparedWith = (values: Values, decision: string) => {
    const payer = payers.get(values.wallet_id);
    const delegate = delegates.get(limitsOf(values));
    const over = delegate && leftOf(delegate).find(({ name }) => decision === `over_${name}`);
    const short = WALLET_LIMITS.find((name) => decision === `${name}_short`);
    const decided_at = appNow();
    if (over) return { limit_micro: delegate![over.name], left_micro: over.left, decided_at };
    if (short === undefined || payer === undefined)
      return { limit_micro: null, left_micro: null, decided_at };
    return { limit_micro: payer[short], left_micro: payer[short] - heldOf(payer), decided_at };
  };

  /** What is open, if that is the reason, and its cap. */
  const tabFigures = (values: Values, decision: string, snapshot: number) =>
    decision === 'over_tab_new_payer'
      ? { open_micro: openOf(values, snapshot), cap_micro: BigInt(values.new_payer_cap!) }
      : { open_micro: null, cap_micro: null };

  const violatesIndex = (values: Values): boolean =>
    [...settlements.values()].some(
      (row) => isAttempt(row, values) || (off !== 'unique quote index' && isPaying(row, values)),
    );

  const valuesOf = (input: string): Values[] =>
    (JSON.parse(input) as (Values & { quote_amount: string; fee_amount: string })[]).map((one) => ({
      ...one,
      quote_token: tokenOf(one.quote_token),
      quote_amount: BigInt(one.quote_amount),
      fee_amount: BigInt(one.fee_amount),
    }));

  const acceptAll = ({ input, messages }: { input: string; messages: string }): unknown[] => {
    const snapshot = snapshotNow();
    const candidates = valuesOf(input);
    const outgoing = JSON.parse(messages) as { payload: { settlement_id: string } }[];
    const taken = new Map<string, bigint>();
    /**
     * The candidates of one delegate or account that come too late in the statement for what is
     * left of a cap.
     */
    const exceedsCap = (values: Values): boolean => {
      const id = limitsOf(values);
      const { quote_amount: amount } = values;
      const sum = (taken.get(id) ?? 0n) + amount;
      taken.set(id, sum);
      if (isUnlimited(values)) return false;
      return leftOf(delegates.get(id)!).some(
        ({ name, left }) => LIMITS[name].counts !== null && isOver(left, sum),
      );
    };
    const decided = candidates.map((values) => {
      const own = evaluate(values, snapshot);
      if (own !== 'accepted') return { values, decision: own };
      const payer = payers.get(values.wallet_id)!;
      const sum = (taken.get(values.wallet_id) ?? 0n) + values.quote_amount;
      taken.set(values.wallet_id, sum);
      const ofAccount = `authorized ${values.account_id}`;
      const open = taken.get(ofAccount) ?? openOf(values, snapshot);
      if (values.max_amount !== undefined) taken.set(ofAccount, open + values.quote_amount);
      if (exceedsNewPayer(values, open)) return { values, decision: 'deferred' };
      const least = payer.balance < payer.allowance ? payer.balance : payer.allowance;
      if (least - heldOf(payer) < sum || exceedsCap(values)) return { values, decision: 'deferred' };
      return { values, decision: 'accepted' };
    });
    return decided.map(({ values, decision }) => {
      const { settlement_id } = values;
      const compared = { ...comparedWith(values, decision), ...tabFigures(values, decision, snapshot) };
      if (decision !== 'accepted') return { settlement_id, decision, outbox: [], ...compared };
      if (violatesIndex(values)) return { settlement_id, decision: 'conflict', outbox: [], ...compared };
      insert(values);
      const messagesOfRow = outgoing.filter(({ payload }) => payload.settlement_id === settlement_id);
      const outbox = insertOutbox(JSON.stringify(messagesOfRow));
      return { settlement_id, decision, outbox, ...compared };
    });
  };

  const insert = (values: Values): void => {
    const payer = payers.get(values.wallet_id)!;
    payer.held += values.quote_amount;
    const delegate = delegates.get(limitsOf(values));
    if (delegate !== undefined) delegate.held += values.quote_amount;
    insertRow(values, authorizationOf(values));
    const text = `${values.settlement_id} is accepted, held ${payer.held} of ${payer.balance}`;
    harness.trace('settlements', text);
  };

  const insertRow = (values: Values, own: Partial<Settlement>): void => {
    const { settlement_id: settlementId, payment_attempt_id: attemptId, ...columns } = values;
    insertedAt.set(settlementId, now());
    settlements.set(settlementId, {
      ...columns,
      settlement_id: settlementId,
      payment_attempt_id: attemptId,
      status: 'pending',
      chain_status: 'pending',
      ...NOTHING_AUTHORIZED,
      tx_hash: null,
      superseded_tx_hashes: [],
      redeemed_at: null,
      redeem_id: null,
      rail: 'quittance',
      payer_address: null,
      extends: null,
      extensions: null,
      source_account: null,
      service_name: null,
      payout_address: null,
      payees: null,
      resource: null,
      accrued_fee: 0n,
      units_consumed: 0n,
      refund_reserved: 0n,
      failure_code: null,
      failure_message: null,
      created_at: appNow(),
      elapsed: false,
      holding: own.status !== 'merged',
      generation: 0,
      dispatch_count: 1,
      progressed_at: now(),
      issued_at: null,
      ...own,
    });
    harness.call(settlementId, `S${settlements.size}(${attemptId})`);
  };

  return [
    model(/^insert into authorization_locks/, '_', () => {
      lockedAt = now();
      return [];
    }),
    model<{ input: string; messages: string }>(
      /existing\.found as is_existing, settled\.found.*queued as \(/s,
      'input messages',
      acceptAll,
    ),
    extensionModel(harness, {
      ...{ settlements, payers, delegates, isUsable, insertOutbox, valuesOf, snapshotNow, isVisible },
      ...{ evaluate, comparedWith, tabFigures, violatesIndex, insertRow },
    }),
  ];
};
