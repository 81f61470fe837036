import { callsFrom } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { chainSubmitter, settlement, wallet } from '../../shared/contract/index.ts';
import type { Handler } from '../../shared/contract/service.ts';

type ChainSubmitter = typeof chainSubmitter.internal;
type Settlement = typeof settlement.internal;

/** The calls to other services. */
export type Peers = {
  findWallet: Handler<typeof wallet.internal.find>;
  observeTransfers: Handler<ChainSubmitter['observeTransfers']>;
  observeWallet: Handler<ChainSubmitter['observeWallet']>;
  prepareTransfer: Handler<ChainSubmitter['prepareTransfer']>;
  submitPrepared: Handler<ChainSubmitter['submitPrepared']>;
  cancelPrepared: Handler<ChainSubmitter['cancelPrepared']>;
  observePrepared: Handler<ChainSubmitter['observePrepared']>;
  reserveRefund: Handler<Settlement['reserveRefund']>;
  releaseRefund: Handler<Settlement['releaseRefund']>;
};

/** Checking, simulating, committing and co-signing takes longer than a read. */
const SUBMIT_TIMEOUT_MS = 10_000;

export const createPeers = (bus: Bus): Peers => {
  const to = callsFrom(bus);
  return {
    findWallet: to(wallet, 'find'),
    observeTransfers: to(chainSubmitter, 'observeTransfers'),
    observeWallet: to(chainSubmitter, 'observeWallet'),
    prepareTransfer: to(chainSubmitter, 'prepareTransfer'),
    submitPrepared: to(chainSubmitter, 'submitPrepared', { timeoutMs: SUBMIT_TIMEOUT_MS }),
    cancelPrepared: to(chainSubmitter, 'cancelPrepared'),
    observePrepared: to(chainSubmitter, 'observePrepared'),
    reserveRefund: to(settlement, 'reserveRefund'),
    releaseRefund: to(settlement, 'releaseRefund'),
  };
};
