import {
  MAX_OPEN,
  MAX_OPEN_OF_PAYEE,
} from '../../services/settlement/record/store/outgoing/outgoing-refusals.ts';
import { WALLET_LIMITS } from '../../shared/contract/limits.ts';
import { isOutgoingRail } from '../../shared/contract/settlement/rail.ts';
import type { Payee } from '../../shared/lib/money/payees.ts';
import type { ApprovalsTables } from './approvals-tables.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import {
  type Delegate,
  findAcceptance,
  leftOfCaps,
  limitsOf,
  type Payer,
  type Settlement,
} from './settlement-rows.ts';

/** An outgoing payment as the accepting statement binds it. */
type Values = {
  settlement_id: string;
  rail: 'x402_out' | 'mpp_out';
  account_id: string;
  payment_attempt_id: string;
  delegate_id: string | null;
  wallet_id: string;
  authority: string;
  amount: bigint;
  /** JSON. */
  payees: string;
  host: string;
  resource: string;
  requirement: string;
  version: number | null;
  cappedAt: number;
  isFresh: boolean;
  maxUnsettled: number;
};

const PAUSED_MS = 3_600_000;
const LATE_COMMIT_MS = 600_000;
const STALLED_MS = { handedOut: 15_000, other: 45_000 };

/** The columns of a row that the accepted payment has not, or not yet. */
const NOTHING_YET = {
  status: 'pending',
  chain_status: 'pending',
  ...{ quote_id: null, quote_token: null, scope: null, vendor_account_id: null, service_id: null },
  ...{ redeem_window_seconds: null, units_total: null, expires_at: null },
  ...{ tx_hash: null, superseded_tx_hashes: [], settlement_token: null, redeem_expires_at: null },
  ...{ redeemed_at: null, redeem_id: null, source_account: null, message_hash: null, issued_at: null },
  ...{ failure_code: null, failure_message: null, fee_amount: 0n, accrued_fee: 0n, units_consumed: 0n },
  ...{
    ceiling: null,
    used: null,
    mode: null,
    unit_price: null,
    ends_at: null,
    at_risk_at: null,
    voided_at: null,
  },
  ...{ usable: false, threshold: null, due_at: null, extensions: null },
  ...{ refund_reserved: 0n, elapsed: false, holding: true, generation: 0, dispatch_count: 1 },
} as const;

export type OutgoingRow = Settlement & {
  requirement: string;
  message_hash: string | null;
  handedOutAt?: number;
};
/** A paid attempt whose records are lost. `acceptedAt`: when its bytes were handed out. */
export type LostOutgoing = {
  settlementId: string;
  accountId: string;
  attemptId: string;
  hash: string;
  acceptedAt: number;
};
const addressesOf = ({ payees }: Values): string[] =>
  (JSON.parse(payees) as Payee[]).map(({ address }) => address);
const isPayee = ({ payees }: Settlement, address: string): boolean =>
  payees?.some((payee) => payee.address === address) === true;
export const isOutgoing = (row: Settlement): row is OutgoingRow => isOutgoingRail(row.rail);

/**
 * The outgoing payments of settlement with the guards of
 * services/settlement/record/store/outgoing/accept-outgoing.ts and outgoing-payments.ts. The
 * accepting statement has locked its delegate and all wallets of the account, so its snapshot is
 * new.
 */
export const createOutgoingSettlement = (
  harness: Harness,
  {
    settlements,
    payers,
    delegates,
    approvals,
    find,
  }: {
    settlements: Map<string, Settlement>;
    payers: Map<string, Payer>;
    delegates: Map<string, Delegate>;
    approvals: ApprovalsTables;
    find: (row: Settlement | undefined) => unknown[];
  },
) => {
  const { now, off } = harness;
  const appNow = () => EPOCH + now();
  /** When a backup was restored; null: never. */
  let restoredAt: number | null = null;
  const outgoing = () => [...settlements.values()].filter(isOutgoing);
  const findAttempt = (account_id: string, payment_attempt_id: string) =>
    findAcceptance(settlements, { account_id, payment_attempt_id })?.row;

  const leftOf = (delegate: Delegate) => {
    const { held, spent } = delegate;
    return leftOfCaps(delegate, off === 'outgoing: limits of a delegate' ? spent : held + spent);
  };
  /**
   * For how long one of the payees is paused, 0 or less if that is over; null: none was. In
   * milliseconds.
   */
  const unsettledOf = (values: Values): number | null => {
    const paused = addressesOf(values).flatMap((address) => unsettledOfPayee(values, address) ?? []);
    return paused.length === 0 ? null : Math.max(...paused);
  };
  const unsettledOfPayee = ({ account_id, maxUnsettled }: Values, address: string): number | null => {
    const latest = outgoing()
      .filter((row) => row.account_id === account_id && isPayee(row, address))
      .filter((row) => row.message_hash !== null && row.status !== 'pending')
      .sort((a, b) => (a.settlement_id < b.settlement_id ? 1 : -1))
      .slice(0, maxUnsettled);
    const last = Math.max(...latest.map(({ progressed_at }) => progressed_at));
    const isPaused = latest.filter(({ status }) => status === 'failed').length >= maxUnsettled;
    return isPaused ? last + PAUSED_MS - now() : null;
  };

  const decide = (values: Values) => {
    const { account_id, delegate_id, wallet_id, amount } = values;
    const none = { limit_micro: null as bigint | null, left_micro: null as bigint | null };
    const plain = (decision: string) => ({ decision, ...none });
    if (findAttempt(account_id, values.payment_attempt_id) !== undefined) return plain('existing');
    const delegate = delegates.get(limitsOf(values));
    if (delegate_id !== null && delegate === undefined) return plain('delegate_unknown');
    const caps = delegate === undefined || values.isFresh ? [] : leftOf(delegate);
    for (const { name, left } of caps)
      if (left !== null && left < amount)
        return { decision: `over_${name}`, limit_micro: delegate![name], left_micro: left };
    const open = outgoing().filter((row) => row.account_id === account_id && row.holding);
    if (open.filter((row) => row.delegate_id === delegate_id).length >= MAX_OPEN)
      return plain('too_many_open');
    const openOf = (address: string) => open.filter((row) => isPayee(row, address)).length;
    if (addressesOf(values).some((address) => openOf(address) >= MAX_OPEN_OF_PAYEE))
      return plain('too_many_open_of_payee');
    if ((unsettledOf(values) ?? 0) > 0) return plain('payee_paused');
    const payer = payers.get(wallet_id);
    if (payer === undefined || delegate === undefined) return plain('payer_unknown');
    const held = off === 'outgoing: holds of a wallet' ? 0n : payer.held;
    const short = WALLET_LIMITS.find((name) => payer[name] - held < amount);
    if (short !== undefined)
      return { decision: `${short}_short`, limit_micro: payer[short], left_micro: payer[short] - held };
    const candidate = { ...values, quote_amount: amount, payees: JSON.parse(values.payees) };
    return plain(approvals.isLacking(candidate, now()) ? 'approval_required' : 'accepted');
  };

  const accept = (values: Values): unknown[] => {
    const decided = decide(values);
    const paused = unsettledOf(values);
    const paused_seconds = paused === null ? null : paused / 1000;
    if (decided.decision === 'accepted') insert(values);
    return [{ ...decided, paused_seconds, decided_at: appNow() }];
  };
  const insert = (values: Values): void => {
    const {
      settlement_id: id,
      delegate_id,
      wallet_id,
      amount,
      cappedAt,
      isFresh: _,
      version,
      ...columns
    } = values;
    const payer = payers.get(wallet_id)!;
    payer.held += amount;
    const delegate = delegates.get(limitsOf(values));
    if (delegate !== undefined) delegate.held += amount;
    const row = {
      ...{ ...NOTHING_YET, ...columns, settlement_id: id, delegate_id, wallet_id },
      ...{ quote_amount: amount, payer_address: values.authority, service_name: values.host },
      ...{
        payees: JSON.parse(values.payees),
        payout_address: null,
        x402_version: version,
        capped_at: cappedAt,
      },
      ...{ created_at: appNow(), progressed_at: now() },
    };
    settlements.set(id, row as unknown as Settlement);
    harness.call(id, `S${settlements.size}(${values.payment_attempt_id})`);
    harness.trace('settlements', `${id} is accepted, held ${payer.held} of ${payer.balance}`);
  };

  const claimStalled = ({ limit }: { limit: number }): unknown[] => {
    const stalled = outgoing()
      .filter(({ chain_status, message_hash, progressed_at }) => {
        if (chain_status !== 'pending' && chain_status !== 'confirmed') return false;
        const isOpen = chain_status === 'pending' && message_hash !== null;
        return progressed_at < now() - (isOpen ? STALLED_MS.handedOut : STALLED_MS.other);
      })
      .sort((a, b) => a.progressed_at - b.progressed_at)
      .slice(0, limit);
    for (const row of stalled) {
      row.progressed_at = now();
      row.dispatch_count += 1;
    }
    return stalled.map((row) => ({ ...row }));
  };

  type Scoped = { id: string; accountId: string; delegateId?: string };
  const findInScope = ({ id, accountId, delegateId }: Scoped): unknown[] => {
    const row = settlements.get(id);
    if (row?.account_id !== accountId) return [];
    return delegateId === undefined || row.delegate_id === delegateId ? find(row) : [];
  };

  const models: Model[] = [
    model(/^with delegate as \(\s*select delegate_id from delegates/, '_ _', () => []),
    model(
      /unsettled as \(/,
      `settlement_id rail account_id payment_attempt_id delegate_id wallet_id authority amount payees _ host _ resource
       requirement version cappedAt isFresh _ maxUnsettled maxUnsettled _ _`,
      accept,
    ),
    model<{ accountId: string; attemptId: string }>(
      /requirement::text as requirement.* as of_kind on true\s+where settlement_id = \(.*'attempt'/s,
      'accountId attemptId',
      ({ accountId, attemptId }) => {
        const row = findAttempt(accountId, attemptId);
        return row === undefined ? [] : [{ ...row, owner: payers.get(row.wallet_id)?.owner ?? null }];
      },
    ),
    model<{ hash: string; source: string; id: string }>(
      /update outgoing_payments as outgoing set message_hash/,
      'id hash source',
      ({ hash, source, id }) => {
        const row = settlements.get(id);
        if (row === undefined || !isOutgoing(row) || row.message_hash !== null) return [];
        Object.assign(row, { message_hash: hash, source_account: source, handedOutAt: now() });
        if (row.chain_status === 'pending') row.progressed_at = now();
        harness.trace('settlements', `${id}: its bytes may be handed out`);
        return [];
      },
    ),
    model(
      /set dispatch_count = dispatch_count \+ 1.*rail in \('x402_out', 'mpp_out'\)/s,
      'limit',
      claimStalled,
    ),
    model<{ accountId: string }>(
      /^select min\(taken_at\).*max\(restored_at\)/s,
      'accountId',
      ({ accountId }) => {
        const own = [...payers.values()].filter(({ account_id }) => account_id === accountId);
        const since = restoredAt === null ? null : EPOCH + restoredAt - LATE_COMMIT_MS;
        const until = restoredAt === null ? null : EPOCH + restoredAt;
        return [{ since, until, owners: own.map(({ owner }) => owner) }];
      },
    ),
    model<Scoped>(
      /as of_kind on true where settlement_id = \$1 and account_id = \$2$/,
      'id accountId',
      findInScope,
    ),
    model<Scoped>(
      /as of_kind on true where settlement_id = \$1 and account_id = \$2 and delegate_id = \$3$/,
      'id accountId delegateId',
      findInScope,
    ),
  ];
  /** Takes the effects of an accepted payment back. */
  const forget = (row: OutgoingRow): void => {
    settlements.delete(row.settlement_id);
    if (row.holding) payers.get(row.wallet_id)!.held -= row.quote_amount;
    const delegate = delegates.get(limitsOf(row));
    if (delegate !== undefined) delegate[row.holding ? 'held' : 'spent'] -= row.quote_amount;
  };

  return {
    models,
    /** An operator records the restore of a backup. */
    recordRestore: (at: number): void => {
      // Mutation: nobody knows that records are lost, and nothing is searched.
      if (off !== 'outgoing: search after a restore') restoredAt = at;
    },
    /**
     * A restore has lost a payment.
     * @returns null for one that a restore of a run does not lose
     */
    lose: (id: string): LostOutgoing | null => {
      const row = settlements.get(id);
      if (row === undefined || !isOutgoing(row) || row.handedOutAt === undefined) return null;
      const hasMemo = JSON.parse(row.requirement).extra.memo !== undefined;
      const needsApproval = (delegates.get(row.delegate_id ?? '')?.approval_above ?? null) !== null;
      if (hasMemo || needsApproval) return null;
      forget(row);
      const { account_id: accountId, payment_attempt_id: attemptId, handedOutAt: acceptedAt } = row;
      return { settlementId: id, accountId, attemptId, hash: row.message_hash!, acceptedAt };
    },
  };
};
