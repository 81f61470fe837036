import { events } from './chain-submitter/events.ts';
import { internal } from './chain-submitter/internal.ts';
import { jobs } from './chain-submitter/jobs.ts';
import { service } from './service.ts';

export { ExternalReason, type Lost } from './chain-submitter/external.ts';
export { ForeignReason } from './chain-submitter/foreign.ts';
export {
  AttemptReport,
  MAX_COSIGNING_FACTOR,
  MAX_OBSERVED_WALLETS,
  WalletSnapshot,
} from './chain-submitter/internal.ts';
export { Progress } from './chain-submitter/progress.ts';

export const chainSubmitter = service({
  name: 'chain-submitter',
  operations: {},
  internal,
  events,
  jobs,
  consumes: [],
});
