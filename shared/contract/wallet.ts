import { service } from './service.ts';
import { events } from './wallet/events.ts';
import { internal } from './wallet/internal.ts';
import { operations } from './wallet/operations.ts';

export { Wallet } from './wallet/operations.ts';

export const wallet = service({
  name: 'wallet',
  operations,
  internal,
  events,
  jobs: {},
  consumes: [
    'chain-submitter.delegationProgressed',
    'chain-submitter.tokenAccountProgressed',
    'settlement.issued',
    'settlement.finalized',
    'settlement.reversed',
    'funding.moved',
    'identity.accountClosed',
    'identity.accountErased',
  ],
});
