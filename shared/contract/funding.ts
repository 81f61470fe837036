import { events } from './funding/events.ts';
import { internal } from './funding/internal.ts';
import { operations } from './funding/operations.ts';
import { service } from './service.ts';

export { MAX_MOVED_LISTED } from './funding/internal.ts';
export type { Moved } from './funding/moved.ts';

export const funding = service({
  name: 'funding',
  operations,
  internal,
  events,
  jobs: {},
  consumes: [
    'chain-submitter.fundProgressed',
    'chain-submitter.withdrawalProgressed',
    'chain-submitter.refundProgressed',
    'identity.accountErased',
  ],
});
