import type { Api } from '../../../deploy/local/seed/api.ts';
import { signPrepared } from '../../../deploy/local/seed/wallet.ts';
import type { Asked, Attempt, ClientLog, Refund } from './client-log.ts';

type RefundBody = {
  refund_id?: string;
  status?: string;
  amount?: string;
  tx_hash?: string | null;
  transaction?: string;
};
export const refundIn = ({ body }: { body: unknown }): RefundBody => (body ?? {}) as RefundBody;

/** The states in which nothing happens to a refund any more. */
const ENDS: ReadonlySet<string | undefined> = new Set(['finalized', 'failed', 'cancelled', 'expired']);

/** The refund as the vendor was told to sign it; null: it was not created, as far as it knows. */
export const preparedOf = ({ created }: Refund): Required<RefundBody> | null => {
  const made = created.find(({ status }) => status === 201);
  return made === undefined ? null : (refundIn(made) as Required<RefundBody>);
};

const isFinal = ({ status }: Asked): boolean => status !== null && status < 500;

/** The calls of vendors that refund, which their log records. */
export const createRefundCalls = (
  { refunds }: Pick<ClientLog, 'refunds'>,
  {
    api,
    asked,
  }: {
    api: Api;
    asked: (what: string, ask: () => Promise<{ status: number; body: unknown }>) => Promise<Asked>;
  },
) => {
  const calls = {
    /** Plans a refund. Nothing is called yet. */
    beginRefund: (attempt: Attempt, wanted: bigint | null): Refund => {
      const refund: Refund = {
        attempt,
        key: crypto.randomUUID(),
        wanted: wanted === null ? null : wanted.toString(),
        created: [],
        submitted: [],
        cancelled: [],
        isOver: false,
      };
      refunds.push(refund);
      return refund;
    },
    /** Creates a refund once, or repeats the call. True when the answer is final. */
    createRefund: async (refund: Refund): Promise<boolean> => {
      const { attempt, key, wanted } = refund;
      const body = { settlement_id: attempt.settlementId, ...(wanted !== null && { amount: wanted }) };
      const headers = { 'idempotency-key': key };
      const answer = await asked('refund', () =>
        api('POST /v1/refunds', { token: attempt.vendor.apiKey, headers, body }),
      );
      refund.created.push(answer);
      return isFinal(answer);
    },
    /** Submits a refund once, signed with the payout address. True when the answer is final. */
    submitRefund: async (refund: Refund): Promise<boolean> => {
      const prepared = preparedOf(refund);
      if (prepared === null) return true;
      const { vendor } = refund.attempt;
      const transaction = signPrepared(prepared.transaction, vendor.payout);
      const answer = await asked('submit a refund', () =>
        api(`POST /v1/refunds/${prepared.refund_id}/submit`, { token: vendor.apiKey, body: { transaction } }),
      );
      refund.submitted.push(answer);
      return isFinal(answer);
    },
    /** Cancels a refund once. True when the answer is final. */
    cancelRefund: async (refund: Refund): Promise<boolean> => {
      const prepared = preparedOf(refund);
      if (prepared === null) return true;
      const token = refund.attempt.vendor.apiKey;
      const answer = await asked('cancel a refund', () =>
        api(`POST /v1/refunds/${prepared.refund_id}/cancel`, { token }),
      );
      refund.cancelled.push(answer);
      return isFinal(answer);
    },
    /**
     * Brings a refund to its end after the faults: the vendor repeats what was not answered, and
     * cancels what it did not submit. True when nothing happens to it any more.
     */
    endRefund: async (refund: Refund): Promise<boolean> => {
      if (!refund.created.some(isFinal) && !(await calls.createRefund(refund))) return false;
      const prepared = preparedOf(refund);
      if (prepared === null) return true;
      const token = refund.attempt.vendor.apiKey;
      const read = await asked('read a refund', () =>
        api(`GET /v1/refunds/${prepared.refund_id}`, { token }),
      );
      if (read.status !== 200) return false;
      const { status } = refundIn(read);
      refund.isOver = ENDS.has(status);
      if (status === 'pending_signature') await calls.cancelRefund(refund);
      return refund.isOver;
    },
  };
  return calls;
};
