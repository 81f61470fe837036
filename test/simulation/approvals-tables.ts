import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRow } from '../../services/settlement/approvals/store/approvals.ts';
import type { Payee } from '../../shared/lib/money/payees.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import { type Delegate, findAcceptance, type Settlement } from './settlement-rows.ts';

/** A row of `approvals`, with the moments from which a snapshot has it and its approval. */
export type ApprovalRecord = Omit<ApprovalRow, 'status' | 'settlement_id'> & {
  approved: boolean | null;
  insertedAt: number;
  approvedAt: number | null;
};

/** A candidate of acceptance, of any rail. */
type Candidate = {
  account_id: string;
  payment_attempt_id: string;
  delegate_id: string | null;
  quote_amount: bigint;
  payees: readonly Payee[];
  /** What the approval is about besides: the quote, or the resource of an outgoing payment. */
  quote_id?: string;
  rail?: string;
  resource?: string;
};

export type ApprovalsTables = ReturnType<typeof createApprovalsTables>;

/** How old the snapshot of a statement may be. */
const SNAPSHOT_MS = 30;

/** The table of approvals, with the guards of services/settlement/approvals/store/approvals.ts. */
export const createApprovalsTables = (
  harness: Harness,
  {
    settlements,
    delegates,
  }: {
    settlements: Map<string, Settlement>;
    delegates: Map<string, Delegate>;
  },
) => {
  const approvals = new Map<string, ApprovalRecord>();
  const { now, off } = harness;
  const appNow = () => EPOCH + now();
  const rows = () => [...approvals.values()];
  let onInserted: (row: ApprovalRecord) => void = () => {};

  const usedBy = (approval: ApprovalRecord, snapshot = now()) =>
    findAcceptance(settlements, approval, ({ created_at }) => created_at - EPOCH <= snapshot)?.row
      .settlement_id ?? null;
  const statusOf = (row: ApprovalRecord): ApprovalRow['status'] => {
    const isUsed = usedBy(row) !== null;
    if (row.approved === false) return 'denied';
    if (row.approved && isUsed) return 'approved';
    if (row.expires_at <= appNow() || isUsed) return 'expired';
    return row.approved ? 'approved' : 'awaiting_approval';
  };
  const show = (row: ApprovalRecord | undefined): ApprovalRow[] =>
    row === undefined ? [] : [{ ...row, status: statusOf(row), settlement_id: usedBy(row) }];

  /** What the approval of an attempt is compared with. Mutations: less than all of it. */
  const isOf = (row: ApprovalRecord, candidate: Candidate): boolean => {
    const isAttempt =
      off === 'approval of one attempt' || row.payment_attempt_id === candidate.payment_attempt_id;
    const isDelegate = off === 'approval of its delegate' || row.delegate_id === candidate.delegate_id;
    const isAmount = off === 'approval of its amount' || row.amount === candidate.quote_amount;
    const shown = (payees: readonly Payee[]) =>
      off === 'approval of its amount' ? payees.map(({ address }) => address) : payees;
    const isQuote =
      off === 'approval of its quote' ||
      (candidate.quote_id === undefined
        ? row.rail === candidate.rail && row.resource === candidate.resource
        : row.quote_id === candidate.quote_id);
    const isSame = isAttempt && isDelegate && isAmount && isQuote;
    return (
      isSame &&
      row.account_id === candidate.account_id &&
      isDeepStrictEqual(shown(row.payees), shown(candidate.payees))
    );
  };

  /**
   * Whether a candidate of acceptance needs an approval that it does not have. The statement finds
   * the row in its snapshot, locks it, and reads its newest version.
   */
  const isLacking = (candidate: Candidate, snapshot: number): boolean => {
    const above = delegates.get(candidate.delegate_id ?? '')?.approval_above ?? null;
    if (above === null || above >= candidate.quote_amount || off === 'approval above an amount') return false;
    return !rows().some((row) => {
      if (!isOf(row, candidate) || row.approvedAt === null || row.approvedAt > snapshot) return false;
      const isApproved = off === 'approval locked by its payment' || row.approved === true;
      return isApproved && row.expires_at > appNow();
    });
  };

  type Inserting = Pick<
    ApprovalRow,
    | 'approval_id'
    | 'account_id'
    | 'payment_attempt_id'
    | 'delegate_id'
    | 'rail'
    | 'quote_id'
    | 'amount'
    | 'service_id'
    | 'service_name'
    | 'resource'
  > & { payees: string; expires: string; maxWaiting: number };
  const insert = ({ expires, maxWaiting, payees, ...values }: Inserting): unknown[] => {
    const isWaiting = (row: ApprovalRecord) =>
      row.delegate_id === values.delegate_id && statusOf(row) === 'awaiting_approval';
    if (rows().filter(isWaiting).length >= maxWaiting) return [];
    const isKnown = (row: ApprovalRecord) =>
      row.account_id === values.account_id && row.payment_attempt_id === values.payment_attempt_id;
    if (rows().some(isKnown)) return [];
    const { approval_id: id } = values;
    const times = { created_at: appNow(), expires_at: Date.parse(expires), decided_at: null };
    const row = {
      ...values,
      ...times,
      payees: JSON.parse(payees),
      approved: null,
      insertedAt: now(),
      approvedAt: null,
    };
    approvals.set(id, row);
    harness.call(id, `A${approvals.size}(${values.payment_attempt_id})`);
    harness.trace('approvals', `${id} is requested`);
    onInserted(row);
    return [{ id }];
  };

  const decide = (row: ApprovalRecord, approved: boolean): unknown[] => {
    Object.assign(row, { approved, decided_at: appNow(), ...(approved && { approvedAt: now() }) });
    harness.trace('approvals', `${row.approval_id} is ${approved ? 'approved' : 'denied'}`);
    return show(row);
  };
  const find = ({ id, accountId }: { id: string; accountId: string }): ApprovalRecord | undefined => {
    const row = approvals.get(id);
    return row?.account_id === accountId ? row : undefined;
  };

  const models: Model[] = [
    model(/^select from delegates where delegate_id = \$1 for no key update$/, '_', () => []),
    model(
      /insert into approvals \(approval_id/,
      `approval_id account_id payment_attempt_id delegate_id rail quote_id amount payees service_id service_name
       resource expires delegate_id maxWaiting`,
      insert,
    ),
    model<{ accountId: string; attemptId: string }>(
      /from approvals as a where a\.account_id = \$1 and a\.payment_attempt_id = \$2$/,
      'accountId attemptId',
      ({ accountId, attemptId }) =>
        show(rows().find((row) => row.account_id === accountId && row.payment_attempt_id === attemptId)),
    ),
    model<{ id: string; accountId: string }>(
      /from approvals as a where a\.approval_id = \$1 and a\.account_id = \$2$/,
      'id accountId',
      (values) => show(find(values)),
    ),
    model<{ id: string; accountId: string }>(
      /update approvals as a set approved = true/,
      '_ id accountId',
      (values) => {
        const row = find(values);
        return row === undefined || statusOf(row) !== 'awaiting_approval' ? [] : decide(row, true);
      },
    ),
    model(/^select from approvals where approval_id = \$1 and account_id = \$2 for update$/, '_ _', () => []),
    model<{ id: string; accountId: string }>(
      /update approvals as a set approved = false/,
      'id accountId',
      (values) => {
        const row = find(values);
        if (row === undefined || row.approved === false) return [];
        // Mutation: the statement locks the row and reads the payment from its own snapshot.
        const isOld = off === 'payment read after the lock of its approval';
        return usedBy(row, isOld ? now() - SNAPSHOT_MS : now()) === null ? decide(row, false) : [];
      },
    ),
  ];

  return {
    approvals,
    models,
    isLacking,
    /** Calls the owner for each request, as the mail of its event does. */
    onInserted: (listener: (row: ApprovalRecord) => void) => {
      onInserted = listener;
    },
  };
};
