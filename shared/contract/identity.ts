import { accountOperations } from './identity/accounts.ts';
import { approvalOperations } from './identity/approvals.ts';
import { delegateOperations } from './identity/delegates.ts';
import { deviceOperations } from './identity/devices.ts';
import { events } from './identity/events.ts';
import { internal } from './identity/internal.ts';
import { securityOperations } from './identity/security.ts';
import { serviceOperations } from './identity/services.ts';
import { signInOperations } from './identity/sign-in.ts';
import { service } from './service.ts';

export { AccountStatus, type KeyRefusal, MAX_LIMIT_FACTOR } from './identity/internal.ts';

export const identity = service({
  name: 'identity',
  operations: {
    ...signInOperations,
    ...deviceOperations,
    ...approvalOperations,
    ...accountOperations,
    ...securityOperations,
    ...serviceOperations,
    ...delegateOperations,
  },
  internal,
  events,
  jobs: {},
  consumes: [
    'settlement.issued',
    'settlement.approvalRequested',
    'settlement.declined',
    'settlement.securityNoted',
    'wallet.securityNoted',
    'funding.securityNoted',
    'webhook.securityNoted',
    'webhook.endpointDisabled',
  ],
});
