import type { z } from 'zod';
import { call, callsFrom } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { chainSubmitter, funding, identity, quote, wallet } from '../../shared/contract/index.ts';
import type { Handler } from '../../shared/contract/service.ts';
import { cached, cachedValue } from '../../shared/lib/cached.ts';
import { cachedMany } from '../../shared/lib/cached-many.ts';

type ChainSubmitter = typeof chainSubmitter.internal;
type Output<O extends { output: z.ZodType }> = Promise<z.infer<O['output']>>;

/** The calls to other services. */
export type Peers = {
  /** @param walletId null: the default wallet of the account */
  findWallet: (accountId: string, walletId: string | null) => Output<typeof wallet.internal.find>;
  /** True if chain-submitter does not answer: the job then waits in its queue. */
  isChainReadable: () => Promise<boolean>;
  /** Null: the lamport budget allows settles. Otherwise the seconds until it does. */
  budgetRefillsInSeconds: () => Promise<number | null>;
  observeWallet: (owner: string) => Output<ChainSubmitter['observeWallet']>;
  /** Up to 100 wallets by one read of the chain. */
  observeWallets: Handler<ChainSubmitter['observeWallets']>;
  /** Whether an account is frozen; at most 1 s old. */
  isFrozen: (accountId: string) => Promise<boolean>;
  findService: (serviceId: string) => Output<typeof identity.internal.findService>;
  /** The fee payers that co-sign. The first one is advertised. */
  getFeePayers: () => Promise<readonly string[]>;
  readBlockhash: Handler<ChainSubmitter['getBlockhash']>;
  /** Creates the token account of a payout address, if it is missing. */
  createPayoutAccount: (payout: { account_id: string; owner: string }) => Promise<unknown>;
  /** @throws ServiceError service_unavailable; a receipt without its refunds would be wrong */
  listConfirmedRefunds: Handler<typeof funding.internal.listConfirmedRefunds>;
  quoteFees: Handler<typeof quote.internal.createFeeQuote>;
  getAttemptReport: Handler<ChainSubmitter['getAttemptReport']>;
  findPayment: Handler<ChainSubmitter['findPayment']>;
  findCapture: Handler<ChainSubmitter['findCapture']>;
  listLostRecords: Handler<ChainSubmitter['listLostRecords']>;
  listChainEvents: (query: {
    since: string;
    after: string | null;
  }) => Output<ChainSubmitter['listSentEvents']>;
  buildIncoming: Handler<ChainSubmitter['buildIncoming']>;
  checkIncoming: Handler<ChainSubmitter['checkIncoming']>;
  submitIncoming: Handler<ChainSubmitter['submitIncoming']>;
  closeIncoming: Handler<ChainSubmitter['closeIncoming']>;
  findLostIncoming: Handler<ChainSubmitter['findLostIncoming']>;
  signOutgoing: Handler<ChainSubmitter['signOutgoing']>;
  closeOutgoing: Handler<ChainSubmitter['closeOutgoing']>;
  observeOutgoing: Handler<ChainSubmitter['observeOutgoing']>;
  /** Asks every provider whether the chain has a payment of an attempt. */
  findLostOutgoing: Handler<ChainSubmitter['findLostOutgoing']>;
};

/** How old answers may be, and how long calls wait for one. */
export const PEER_TIMING = {
  /** A changed default wallet takes effect within this time. A wallet's addresses never change. */
  walletMaxAgeMs: 1000,
  /** The wallet of a payer who paid within this time is read again ahead, with all others. */
  walletRefreshForMs: 5000,
  /** Many refused settles of one wallet share one read of the chain. */
  observedMaxAgeMs: 100,
  /** The proof queries every provider, and repeats some queries. */
  proofTimeoutMs: 15_000,
  callTimeoutMs: 5000,
};
type PeerTiming = typeof PEER_TIMING;

/** Less than the gateway waits for a receipt. */
const REFUNDS_TIMEOUT_MS = 3000;
const CHAIN_TIMEOUT_MS = 2000;

const chainCondition = (bus: Bus): Pick<Peers, 'isChainReadable' | 'budgetRefillsInSeconds'> => {
  // Read at most once a second under any load, and refreshed in advance while settles come in.
  const observeChain = cachedValue(
    () => call(bus, chainSubmitter, 'observeChain', {}, { timeoutMs: CHAIN_TIMEOUT_MS }),
    { maxAgeMs: 1000, refreshAheadForMs: 60_000 },
  );
  return {
    isChainReadable: () =>
      observeChain().then(
        ({ readable }) => readable,
        () => true,
      ),
    budgetRefillsInSeconds: () =>
      observeChain().then(
        ({ budget_refills_in_seconds }) => budget_refills_in_seconds,
        () => null,
      ),
  };
};

const walletsOf = (
  bus: Bus,
  { walletMaxAgeMs, walletRefreshForMs, observedMaxAgeMs }: PeerTiming,
): Pick<Peers, 'findWallet' | 'observeWallet'> => {
  const findDefault = cachedMany(
    (account_ids: readonly string[]) => call(bus, wallet, 'findDefaults', { account_ids: [...account_ids] }),
    {
      keyOf: (account_id) => account_id,
      maxAgeMs: walletMaxAgeMs,
      refreshForMs: walletRefreshForMs,
      isCacheable: (found) => found !== null,
    },
  );
  return {
    findWallet: (account_id, wallet_id) =>
      wallet_id === null ? findDefault(account_id) : call(bus, wallet, 'find', { account_id, wallet_id }),
    observeWallet: cached((owner: string) => call(bus, chainSubmitter, 'observeWallet', { owner }), {
      maxAgeMs: observedMaxAgeMs,
    }),
  };
};

const accountsOf = (bus: Bus): Pick<Peers, 'isFrozen' | 'findService'> => {
  // An operator's change takes effect within this time (the limit of docs/spec/decisions.md is
  // 2 s), and a vendor's changed payout address too.
  const atMostASecond = { maxAgeMs: 1000 };
  const readFrozen = cached(
    (account_id: string) => call(bus, identity, 'isFrozen', { account_id }),
    atMostASecond,
  );
  return {
    isFrozen: async (accountId) => (await readFrozen(accountId)).frozen,
    findService: cached(
      (service_id: string) => call(bus, identity, 'findService', { service_id }),
      atMostASecond,
    ),
  };
};

const payoutsOf = (bus: Bus): Pick<Peers, 'getFeePayers' | 'createPayoutAccount'> => {
  const readFeePayers = cachedValue(() => call(bus, chainSubmitter, 'getFeePayers', {}), {
    maxAgeMs: 60_000,
  });
  // Called whenever a vendor reads the terms. Only an existing account is remembered for long.
  const createPayoutAccount = cached(
    (account: { account_id: string; owner: string }) =>
      call(bus, chainSubmitter, 'createPayoutAccount', account),
    {
      keyOf: ({ account_id, owner }) => `${account_id}/${owner}`,
      maxAgeMs: 600_000,
      isCacheable: ({ exists }) => exists,
    },
  );
  return {
    getFeePayers: async () => (await readFeePayers()).fee_payers,
    createPayoutAccount,
  };
};

/** @param timing for tests, whose stand-ins change their answers at once */
export const createPeers = (bus: Bus, timing: PeerTiming = PEER_TIMING): Peers => {
  const to = callsFrom(bus);
  const [proof, usual] = [{ timeoutMs: timing.proofTimeoutMs }, { timeoutMs: timing.callTimeoutMs }];
  return {
    ...chainCondition(bus),
    ...walletsOf(bus, timing),
    ...accountsOf(bus),
    ...payoutsOf(bus),
    listConfirmedRefunds: to(funding, 'listConfirmedRefunds', { timeoutMs: REFUNDS_TIMEOUT_MS }),
    quoteFees: to(quote, 'createFeeQuote'),
    readBlockhash: to(chainSubmitter, 'getBlockhash', { timeoutMs: CHAIN_TIMEOUT_MS }),
    getAttemptReport: to(chainSubmitter, 'getAttemptReport', proof),
    observeWallets: to(chainSubmitter, 'observeWallets', { timeoutMs: CHAIN_TIMEOUT_MS }),
    findPayment: to(chainSubmitter, 'findPayment', proof),
    findCapture: to(chainSubmitter, 'findCapture', proof),
    listLostRecords: to(chainSubmitter, 'listLostRecords'),
    listChainEvents: to(chainSubmitter, 'listSentEvents'),
    buildIncoming: to(chainSubmitter, 'buildIncoming'),
    checkIncoming: to(chainSubmitter, 'checkIncoming'),
    submitIncoming: to(chainSubmitter, 'submitIncoming'),
    closeIncoming: to(chainSubmitter, 'closeIncoming'),
    findLostIncoming: to(chainSubmitter, 'findLostIncoming', usual),
    signOutgoing: (payment) =>
      call(bus, chainSubmitter, 'signOutgoing', payment, payment.lost ? proof : usual),
    closeOutgoing: to(chainSubmitter, 'closeOutgoing', usual),
    observeOutgoing: to(chainSubmitter, 'observeOutgoing', usual),
    findLostOutgoing: to(chainSubmitter, 'findLostOutgoing', proof),
  };
};
