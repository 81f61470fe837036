import { events } from './chain-submitter/events.ts';
import { internal } from './chain-submitter/internal.ts';
import { jobs } from './chain-submitter/jobs.ts';
import { service } from './service.ts';

export { IncomingReason } from './chain-submitter/incoming.ts';
export {
  AttemptReport,
  MAX_COSIGNING_FACTOR,
  MAX_OBSERVED_WALLETS,
  WalletSnapshot,
} from './chain-submitter/internal.ts';
export { MAX_EXTENSIONS } from './chain-submitter/jobs.ts';
export { type Lost, MAX_SPLITS, OutgoingReason, OutgoingSplit } from './chain-submitter/outgoing.ts';
export { Progress } from './chain-submitter/progress.ts';

export const chainSubmitter = service({
  name: 'chain-submitter',
  operations: {},
  internal,
  events,
  jobs,
  consumes: [],
  hasLanes: true,
});
