import { accountLimitOperations } from '../../services/settlement/account-limits/operations.ts';
import { approvalOperations } from '../../services/settlement/approvals/operations.ts';
import { requestApproval } from '../../services/settlement/approvals/request-approval.ts';
import { declineOperations } from '../../services/settlement/declines/operations.ts';
import { delegateOperations } from '../../services/settlement/delegates/operations.ts';
import { feeAccountOperations } from '../../services/settlement/fee-accounts/operations.ts';
import { incomingPaymentOperations } from '../../services/settlement/incoming/operations.ts';
import { operatorOperations } from '../../services/settlement/operator/operations.ts';
import { quarantineResolver } from '../../services/settlement/operator/quarantine-resolver.ts';
import { findPaymentRecords } from '../../services/settlement/operator/records.ts';
import { outgoingPaymentOperations } from '../../services/settlement/outgoing/operations.ts';
import { receiptOperations } from '../../services/settlement/receipts/operations.ts';
import { refundOperations } from '../../services/settlement/refunds/operations.ts';
import type { onSettleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import { settlementOperations } from '../../services/settlement/settlements/operations.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';

/** What the operations of settlement need. */
export type Deps = Parameters<typeof settlementOperations>[0] &
  Parameters<typeof declineOperations>[0] &
  Parameters<typeof receiptOperations>[0] &
  Omit<Parameters<typeof operatorOperations>[0], 'applyProgress'> &
  Parameters<typeof onSettleProgressed>[0] &
  Parameters<typeof quarantineResolver>[0] &
  Omit<Parameters<typeof incomingPaymentOperations>[0], 'applyProgress'> &
  Omit<Parameters<typeof outgoingPaymentOperations>[0], 'applyProgress' | 'requestApproval'>;

const notServed = (): never => {
  throw new Error('The quote service is not part of this fixture.');
};

type Events = {
  applyProgress: ReturnType<typeof onSettleProgressed>;
  consuming: Parameters<typeof operatorHandlers>[0]['consuming'];
};

/** All operations of settlement, as its `main.ts` serves them. */
export const handlersOf = (deps: Deps, { applyProgress, consuming }: Events) => ({
  ...settlementOperations(deps),
  ...approvalOperations(deps),
  ...declineOperations(deps),
  ...delegateOperations(deps),
  ...accountLimitOperations(deps),
  ...refundOperations(deps),
  ...receiptOperations(deps),
  ...feeAccountOperations({ ...deps, quoteFees: async () => notServed() }),
  ...incomingPaymentOperations({ ...deps, applyProgress }),
  ...outgoingPaymentOperations({
    ...deps,
    applyProgress,
    requestApproval: (request) => requestApproval(deps, request),
  }),
  ...operatorOperations({ ...deps, applyProgress }),
  ...operatorHandlers({
    pool: deps.pool,
    consuming,
    resolver: quarantineResolver(deps),
    findRecords: findPaymentRecords(deps.pool),
  }),
});
