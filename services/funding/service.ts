import { type Records, recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, funding, identity } from '../../shared/contract/index.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { getAccountActivity } from './accounts/get-account-activity.ts';
import { accountErased } from './accounts/on-identity-account-erased.ts';
import type { Config } from './config.ts';
import { createDeposit } from './deposits/create-deposit.ts';
import { followDeposits } from './deposits/follow-deposits.ts';
import { getDeposit } from './deposits/get-deposit.ts';
import { listDeposits } from './deposits/list-deposits.ts';
import { providerWebhook } from './deposits/provider-webhook.ts';
import { createCoinbase } from './deposits/providers/coinbase.ts';
import { createMoonpay } from './deposits/providers/moonpay.ts';
import type { Onramps } from './deposits/providers/onramp.ts';
import { devFund } from './dev-funds/dev-fund.ts';
import { fundProgressed } from './dev-funds/on-chain-submitter-fund-progressed.ts';
import { redispatchDevFunds } from './dev-funds/redispatch-dev-funds.ts';
import { listMoved } from './movements/list-moved.ts';
import { findTransferRecords, listTransferRecords } from './operator/records.ts';
import { listWaitingTransfers } from './operator/waiting.ts';
import type { Peers } from './peers.ts';
import type { Terms } from './terms.ts';
import { approveWithdrawal } from './transfers/approve-withdrawal.ts';
import { cancelRefund } from './transfers/cancel-refund.ts';
import { cancelWithdrawal } from './transfers/cancel-withdrawal.ts';
import { createRefund } from './transfers/create-refund.ts';
import { createWithdrawal } from './transfers/create-withdrawal.ts';
import { getRefund } from './transfers/get-refund.ts';
import { getWithdrawal } from './transfers/get-withdrawal.ts';
import { listConfirmedRefunds } from './transfers/list-confirmed-refunds.ts';
import { listRefunds } from './transfers/list-refunds.ts';
import { listWithdrawals } from './transfers/list-withdrawals.ts';
import { refundProgressed, withdrawalProgressed } from './transfers/on-chain-submitter.ts';
import { releaseRefunds } from './transfers/release-refunds.ts';
import { submitRefund } from './transfers/submit-refund.ts';
import { sweepTransfers } from './transfers/sweep-transfers.ts';

const SWEEP_EVERY_MS = 2000;
const FOLLOW_EVERY_MS = 1000;

const termsOf = (config: Config): Terms => ({
  cursorKeys: config.CURSOR_KEY,
  chainWaitMs: config.CHAIN_WAIT_MS,
  devFund: config.DEV_FUND,
});

const onrampsOf = ({ MOONPAY, COINBASE }: Config): Onramps => ({
  ...(MOONPAY && { moonpay: createMoonpay(MOONPAY, systemClock) }),
  ...(COINBASE && { coinbase: createCoinbase(COINBASE, systemClock) }),
});

type Deps = Records & Terms & Peers & Pick<ServiceBase, 'waiting'> & { onramps: Onramps };

const operations = (deps: Deps) => ({
  devFund: devFund(deps),
  createDeposit: createDeposit(deps),
  listDeposits: listDeposits(deps),
  getDeposit: getDeposit(deps),
  providerWebhook: providerWebhook(deps),
  createWithdrawal: createWithdrawal(deps),
  approveWithdrawal: approveWithdrawal(deps),
  cancelWithdrawal: cancelWithdrawal(deps),
  listWithdrawals: listWithdrawals(deps),
  getWithdrawal: getWithdrawal(deps),
  createRefund: createRefund(deps),
  submitRefund: submitRefund(deps),
  cancelRefund: cancelRefund(deps),
  listRefunds: listRefunds(deps),
  getRefund: getRefund(deps),
  listConfirmedRefunds: listConfirmedRefunds(deps),
  listMoved: listMoved(deps),
  getAccountActivity: getAccountActivity(deps),
});

const consume = ({ bus, quarantine }: ServiceBase, deps: Deps) => {
  const ofChain = {
    fundProgressed: fundProgressed(deps),
    withdrawalProgressed: withdrawalProgressed(deps),
    refundProgressed: refundProgressed(deps),
  };
  return [
    subscribe(bus, chainSubmitter, ofChain, quarantine),
    subscribe(bus, identity, { accountErased: accountErased(deps) }, quarantine),
  ];
};

/** Starts the funding service. */
export const createService = (base: ServiceBase, config: Config, peers: Peers): Service => {
  const { bus, pool, clock, logger, waiting } = base;
  const deps = { ...recordsOf(base), ...termsOf(config), ...peers, waiting, onramps: onrampsOf(config) };
  const consuming = consume(base, deps);
  const handlers = {
    ...operations(deps),
    listSentEvents: listSentEvents(pool),
    ...operatorHandlers({
      pool,
      consuming,
      findRecords: findTransferRecords(pool),
      listAccountRecords: listTransferRecords(pool),
      listWaiting: listWaitingTransfers(pool),
    }),
  };
  return {
    serving: serve(bus, funding, handlers, { now: clock.now, calls: idempotentCalls(pool) }),
    consuming,
    jobs: [
      everyMs(SWEEP_EVERY_MS, 'redispatchDevFunds', redispatchDevFunds(deps), logger),
      everyMs(SWEEP_EVERY_MS, 'sweepTransfers', sweepTransfers(deps), logger),
      everyMs(SWEEP_EVERY_MS, 'releaseRefunds', releaseRefunds(deps), logger),
      everyMs(FOLLOW_EVERY_MS, 'followDeposits', followDeposits(deps), logger),
      startPurgeCalls({ pool, logger }),
    ],
  };
};
