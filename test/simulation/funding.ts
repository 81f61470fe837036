import { cancelRefund } from '../../services/funding/transfers/cancel-refund.ts';
import { createRefund } from '../../services/funding/transfers/create-refund.ts';
import { refundProgressed } from '../../services/funding/transfers/on-chain-submitter.ts';
import { releaseRefunds } from '../../services/funding/transfers/release-refunds.ts';
import { submitRefund } from '../../services/funding/transfers/submit-refund.ts';
import { sweepTransfers } from '../../services/funding/transfers/sweep-transfers.ts';
import type { Waiting } from '../../shared/bus/wake.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { type Bus, createRelay } from './bus.ts';
import { type Database, EPOCH, type Outbox } from './database.ts';
import { every, loggerOf, type SettlementReplica, type Submitter } from './processes.ts';
import type { Process, World } from './world.ts';

type Deps = Parameters<typeof createRefund>[0] &
  Parameters<typeof submitRefund>[0] &
  Parameters<typeof cancelRefund>[0] &
  Parameters<typeof sweepTransfers>[0];

const CALL_MS = 10;
const GIVES_UP_MS = 5000;
const ROUND_MS = 5000;

/** A call to another service: any of its processes takes it, and dies, sleeps or is cut off at any moment. */
const callTo =
  <R extends { process: Process }>(world: World, caller: Process, replicas: () => readonly R[]) =>
  async <T>(ask: (replica: R) => Promise<T>): Promise<T> => {
    const away = new ServiceError('service_unavailable', 'nobody answers');
    const able = replicas().filter((one) => one.process.alive);
    if (able.length === 0) throw away;
    const gaveUp = world.sleep(caller, GIVES_UP_MS).then(() => {
      throw away;
    });
    const lost = world.random.chance(world.faults.lostAnswer);
    const answer = world.io(caller, CALL_MS, () => ask(world.random.pick(able)));
    const given = await Promise.race([answer, gaveUp]);
    if (lost) throw away;
    return given;
  };

/** A run of funding: the product's handlers, consumer, jobs and stores of refunds, on virtual time and ports. */
export const startFunding = (
  { world, bus }: { world: World; bus: Bus },
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
  const submitter = callTo(world, process, submitters);
  const settlement = callTo(world, process, settlements);
  const deps: Deps = {
    pool: database.connect(process),
    logger: loggerOf(world, process),
    clock: () => EPOCH + world.now() + process.skewMs,
    relay: createRelay(world, { bus, outbox, process }),
    waiting,
    chainWaitMs: 10_000,
    prepareTransfer: (input) => submitter((one) => one.prepareTransfer(input)),
    submitPrepared: (input) => submitter((one) => one.submitPrepared(input)),
    cancelPrepared: (input) => submitter((one) => one.cancelPrepared(input)),
    observePrepared: (input) => submitter((one) => one.observePrepared(input)),
    reserveRefund: (input) => settlement((one) => one.reserveRefund(input)),
    releaseRefund: (input) => settlement((one) => one.releaseRefund(input)),
  };
  every(world, process, ROUND_MS, sweepTransfers(deps));
  every(world, process, ROUND_MS, releaseRefunds(deps));
  bus.consume(process, { 'evt.chain-submitter.refundProgressed': refundProgressed(deps) });
  return { process, create: createRefund(deps), submit: submitRefund(deps), cancel: cancelRefund(deps) };
};
export type FundingReplica = ReturnType<typeof startFunding>;
