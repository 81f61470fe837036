import { LIMITS, WALLET_LIMITS } from '../../shared/contract/limits.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import type { Payee } from '../../shared/lib/money/payees.ts';
import type { ApprovalsTables } from './approvals-tables.ts';
import { EPOCH, type Model, model, PartOfKeys, tokenOf } from './database.ts';
import { extensionModel } from './extension-model.ts';
import type { Harness } from './harness.ts';
import {
  type Acceptance,
  acceptancesOf,
  type Delegate,
  findAcceptance,
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
  ceiling?: string;
  mode?: 'manual' | 'usage';
  unit_price?: string | null;
  threshold?: string | null;
  settlement_token?: string;
  ends_at?: number;
  new_payer_cap?: string;
};

/** How long another statement may hold the row of a payer. */
const LOCK_WAIT_MS = 2000;

/** The columns of a payment that is made at once, or holds nothing. */
const NOTHING_AUTHORIZED = {
  ...{ ceiling: null, used: null, mode: null, unit_price: null, ends_at: null },
  ...{ threshold: null, settlement_token: null, redeem_expires_at: null, due_at: null },
  ...{ retry_at: null, capturing_at: null },
  ...{ at_risk_at: null, voided_at: null, usable: false },
} as const;

/** The columns in which an authorization differs from a payment. */
const authorizationOf = ({ ceiling, ...values }: Values): Partial<Settlement> =>
  ceiling === undefined
    ? {}
    : {
        ...{ status: 'authorized', chain_status: 'none', ceiling: BigInt(ceiling), used: 0n },
        mode: values.mode ?? null,
        threshold: values.threshold == null ? null : BigInt(values.threshold),
        settlement_token: tokenOf(values.settlement_token!),
        ends_at: values.ends_at!,
        due_at: values.ends_at!,
      };

const isOver = (cap: bigint | null, amount: bigint): boolean => cap !== null && cap < amount;

/**
 * The model of acceptance. `evaluate` makes the decisions of the statement's step `evaluated` in
 * the same order. A further refusal is a further line in each. The step `decided` holds the amounts
 * of one wallet in order. Rows of other transactions are read from the snapshot, so the keys decide
 * last. Rows that the statement locks (`for update`) are read in their newest
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
  const findPaying = ({ quote_id }: Values, isSeen = (_: Acceptance) => true) =>
    [...settlements.values()]
      .flatMap(acceptancesOf)
      .find((one) => one.quote_id === quote_id && isPayingQuote(one) && isSeen(one));

  const leftOf = (delegate: Delegate) =>
    leftOfCaps(delegate, off === 'limits of a delegate' ? delegate.spent : delegate.held + delegate.spent);
  /** Whether no limit refuses it: a sign-in of the last minutes may exceed those of its account. */
  const isUnlimited = ({ delegate_id, is_fresh }: Values): boolean =>
    is_fresh || (delegate_id === null && off === 'limits of an account');
  const heldOf = (payer: Payer): bigint => (off === 'conditional holds' ? 0n : payer.held);

  const isSeen = (id: string, snapshot: number): boolean => insertedAt.get(id)! <= snapshot;
  const isVisible = ({ settlement_id }: Settlement, snapshot: number): boolean =>
    isSeen(settlement_id, snapshot);
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
  /** The ceiling of an open authorization at a moment: it may have been extended since then. */
  const ceilingAt = (row: Settlement, moment: number): bigint => {
    if (!isVisible(row, moment)) return 0n;
    const later = (row.extensions ?? []).filter(({ extension_id }) => !isSeen(extension_id, moment));
    return later.reduce((ceiling, { amount }) => ceiling - BigInt(amount), row.quote_amount);
  };
  const exceedsNewPayer = ({ account_id, new_payer_cap: cap, quote_amount }: Values, open: bigint): boolean =>
    cap !== undefined && !hasHistory(settlements, account_id) && open + quote_amount > BigInt(cap);

  /** @param first the refusals that have precedence over those of a settle */
  const evaluate = (values: Values, snapshot: number, first = (): string | null => null): string => {
    const inSnapshot = ({ id }: Acceptance) => isSeen(id, snapshot);
    const isExisting = findAcceptance(settlements, values, inSnapshot) !== undefined;
    const payer = payers.get(values.wallet_id);

    if (isExisting && off !== 'attempt read first') return 'existing';
    if (findPaying(values, inSnapshot) !== undefined) return 'quote_settled';
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

  /** How many of the keys of an attempt and its quote are taken. */
  const takenKeys = (values: Values): number => {
    const ofAttempt = findAcceptance(settlements, values) !== undefined;
    const ofQuote = off !== 'unique quote index' && findPaying(values) !== undefined;
    return Number(ofAttempt) + Number(ofQuote);
  };
  /**
   * Whether they are.
   * @throws PartOfKeys if only one of them is, and the statement has no effect
   */
  const isTaken = (values: Values): boolean => {
    const taken = takenKeys(values);
    if (taken === 1) throw new PartOfKeys();
    return taken === 2;
  };

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
      if (values.ceiling !== undefined) taken.set(ofAccount, open + values.quote_amount);
      if (exceedsNewPayer(values, open)) return { values, decision: 'deferred' };
      const least = payer.balance < payer.allowance ? payer.balance : payer.allowance;
      if (least - heldOf(payer) < sum || exceedsCap(values)) return { values, decision: 'deferred' };
      return { values, decision: 'accepted' };
    });
    // Before any of them is inserted: one that got a part of its keys undoes them all.
    const withoutKeys = new Set(
      decided.filter(({ values, decision }) => decision === 'accepted' && isTaken(values)),
    );
    return decided.map((one) => {
      const { values, decision } = one;
      const { settlement_id } = values;
      const compared = { ...comparedWith(values, decision), ...tabFigures(values, decision, snapshot) };
      if (decision !== 'accepted') return { settlement_id, decision, outbox: [], ...compared };
      if (withoutKeys.has(one)) return { settlement_id, decision: 'conflict', outbox: [], ...compared };
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

  const insertExtension = (values: Values, target: Settlement): void => {
    const { settlement_id: extension_id, payment_attempt_id, quote_id, quote_token } = values;
    const amount = String(values.quote_amount);
    insertedAt.set(extension_id, now());
    target.extensions!.push({
      ...{ extension_id, payment_attempt_id, quote_id, quote_token, amount, created_at: appNow() },
    });
    harness.call(extension_id, `E(${payment_attempt_id})`);
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
      extensions: own.ceiling == null ? null : [],
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
      holding: true,
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
      'input _ messages',
      acceptAll,
    ),
    extensionModel(harness, {
      ...{ settlements, payers, delegates, isUsable, insertOutbox, valuesOf, snapshotNow, isVisible },
      ...{ evaluate, comparedWith, tabFigures, takenKeys, isTaken, insertExtension },
    }),
  ];
};
