import { service } from './service.ts';
import { events } from './settlement/events.ts';
import { internal } from './settlement/internal.ts';
import { operations } from './settlement/operations.ts';

export { Approval } from './settlement/approvals.ts';
export {
  DECLINE_REASONS,
  DECLINES,
  Decline,
  type DeclineReason,
  VENDOR_CODE,
} from './settlement/declines.ts';
export { DelegateSpending, MAX_PAID_LISTED, MAX_QUOTES_LISTED } from './settlement/internal.ts';
export { Settlement } from './settlement/operations.ts';
export type { OutgoingChallenge, OutgoingRequirement } from './settlement/outgoing.ts';
export { Payees } from './settlement/payees.ts';
export { type IncomingRail, isOutgoingRail, type OutgoingRail, Rail } from './settlement/rail.ts';
export { ChainStatus, SettlementStatus } from './settlement/status.ts';

export const settlement = service({
  name: 'settlement',
  operations,
  internal,
  events,
  jobs: {},
  consumes: [
    'chain-submitter.settleProgressed',
    'wallet.delegationChanged',
    'identity.accountFrozen',
    'identity.accountErased',
    'identity.delegateChanged',
    'identity.sessionRevoked',
  ],
  handedOver: ['chain-submitter.settleProgressed'],
  hasLanes: true,
});
