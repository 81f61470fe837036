import { cancelRefund } from '../../services/funding/transfers/cancel-refund.ts';
import { createRefund } from '../../services/funding/transfers/create-refund.ts';
import { refundProgressed } from '../../services/funding/transfers/on-chain-submitter.ts';
import { releaseRefunds } from '../../services/funding/transfers/release-refunds.ts';
import { submitRefund } from '../../services/funding/transfers/submit-refund.ts';
import { sweepTransfers } from '../../services/funding/transfers/sweep-transfers.ts';
import type { Waiting } from '../../shared/bus/wake.ts';
import { type Bus, createRelay } from './bus.ts';
import { type Database, EPOCH, type Outbox } from './database.ts';
import type { Harness, Process } from './harness.ts';
import { callTo, every, loggerOf } from './process-jobs.ts';
import type { SettlementReplica, Submitter } from './processes.ts';

type Deps = Parameters<typeof createRefund>[0] &
  Parameters<typeof submitRefund>[0] &
  Parameters<typeof cancelRefund>[0] &
  Parameters<typeof sweepTransfers>[0];

const ROUND_MS = 5000;

/**
 * A run of funding: the product's handlers, consumer, jobs and stores of refunds, with virtual time
 * and simulated ports.
 */
export const startFunding = (
  { harness, bus }: { harness: Harness; bus: Bus },
  {
    process,
    database,
    outbox,
    waiting,
    submitters,
    settlements,
  }: {
    process: Process;
    database: Database;
    outbox: Outbox;
    waiting: Waiting;
    submitters: () => readonly Submitter[];
    settlements: () => readonly SettlementReplica[];
  },
) => {
  const submitter = callTo(harness, process, submitters);
  const settlement = callTo(harness, process, settlements);
  const deps: Deps = {
    pool: database.connect(process),
    logger: loggerOf(harness, process),
    clock: () => EPOCH + harness.now() + process.skewMs,
    relay: createRelay(harness, { bus, outbox, process }),
    waiting,
    chainWaitMs: 10_000,
    prepareTransfer: (input) => submitter((one) => one.prepareTransfer(input)),
    submitPrepared: (input) => submitter((one) => one.submitPrepared(input)),
    cancelPrepared: (input) => submitter((one) => one.cancelPrepared(input)),
    observePrepared: (input) => submitter((one) => one.observePrepared(input)),
    reserveRefund: (input) => settlement((one) => one.reserveRefund(input)),
    releaseRefund: (input) => settlement((one) => one.releaseRefund(input)),
  };
  every(harness, process, ROUND_MS, sweepTransfers(deps));
  every(harness, process, ROUND_MS, releaseRefunds(deps));
  bus.consume(process, { 'evt.chain-submitter.refundProgressed': refundProgressed(deps) });
  return { process, create: createRefund(deps), submit: submitRefund(deps), cancel: cancelRefund(deps) };
};
export type FundingReplica = ReturnType<typeof startFunding>;
