import { callsFrom } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { chainSubmitter, settlement } from '../../shared/contract/index.ts';
import type { Handler } from '../../shared/contract/service.ts';

type ChainSubmitter = typeof chainSubmitter.internal;
type Settlement = typeof settlement.internal;

/** The calls to other services. */
export type Peers = {
  /** At most 100 wallets, answered in their order. */
  observeWallets: Handler<ChainSubmitter['observeWallets']>;
  describeWallet: Handler<ChainSubmitter['describeWallet']>;
  prepareDelegation: Handler<ChainSubmitter['prepareDelegation']>;
  submitPrepared: Handler<ChainSubmitter['submitPrepared']>;
  sumSpentSince: Handler<Settlement['sumSpentSince']>;
};

/** Checking, simulating, committing and co-signing takes longer than a read. */
const SUBMIT_TIMEOUT_MS = 10_000;
/**
 * Both together are shorter than the gateway's timeout: when the chain hangs, there must be time
 * left to answer with the stored snapshots.
 */
const OBSERVE_TIMEOUT_MS = 3000;
const SPENT_TIMEOUT_MS = 1000;

export const createPeers = (bus: Bus): Peers => {
  const to = callsFrom(bus);
  return {
    observeWallets: to(chainSubmitter, 'observeWallets', { timeoutMs: OBSERVE_TIMEOUT_MS }),
    describeWallet: to(chainSubmitter, 'describeWallet'),
    prepareDelegation: to(chainSubmitter, 'prepareDelegation'),
    submitPrepared: to(chainSubmitter, 'submitPrepared', { timeoutMs: SUBMIT_TIMEOUT_MS }),
    sumSpentSince: to(settlement, 'sumSpentSince', { timeoutMs: SPENT_TIMEOUT_MS }),
  };
};
