import { checkIncoming } from '../../services/chain-submitter/incoming/check-incoming.ts';
import { closeIncoming } from '../../services/chain-submitter/incoming/close-incoming.ts';
import { findLostIncoming } from '../../services/chain-submitter/incoming/find-lost-incoming.ts';
import { createIncomingCommit } from '../../services/chain-submitter/incoming/group-commit.ts';
import { createSharedReads } from '../../services/chain-submitter/incoming/shared-reads.ts';
import { createSignedPayments } from '../../services/chain-submitter/incoming/signed-payment.ts';
import { createSimulations } from '../../services/chain-submitter/incoming/simulations.ts';
import { submitIncoming } from '../../services/chain-submitter/incoming/submit-incoming.ts';
import { acceptForeign } from '../../services/settlement/incoming/accept-foreign.ts';
import { recordHandOut } from '../../services/settlement/incoming/record-hand-out.ts';
import { reissueForeign } from '../../services/settlement/incoming/reissue-foreign.ts';
import { resumeIncoming } from '../../services/settlement/incoming/resume-incoming.ts';
import { createIncomingGroupCommit } from '../../services/settlement/incoming/store/group-commit.ts';
import { x402Settle } from '../../services/settlement/incoming/x402-settle.ts';
import { onSettleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import { actors } from './actors.ts';
import type { Harness } from './harness.ts';
import { FEE, NETWORK } from './incoming-actors.ts';
import type { IncomingTables } from './incoming-tables.ts';
import { callTo, every } from './process-jobs.ts';
import type { SettlementReplica, Submitter } from './processes.ts';

const CACHED = 100;
const RESUME_MS = 2000;
/** More than fail in a run: what bounds the failures of a vendor has its own tests. */
const MANY = 1000n;

/** The payments of the simulation are those of stock clients. Other shapes have their own tests. */
const NO_WALLETS = {
  programs: new Set<string>(),
  lookupTables: { resolve: () => Promise.reject(new Error('no payment has a lookup table')) },
  outcomes: { judge: () => Promise.reject(new Error('no payment is of a smart wallet')) },
};

/** The operations of chain-submitter for payments of other clients, in one of its processes. */
export const incomingSubmitter = (harness: Harness, { process, deps }: Submitter) => {
  const pause = (ms: number) => harness.sleep(process, ms);
  const isRefused = () => harness.random.chance(harness.faults.lostAnswer);
  const limits = { incoming_failures: MANY, incoming_first_failures: MANY };
  const parts = {
    ...deps,
    pause,
    simulations: createSimulations(deps, { pause, maxCached: CACHED }),
    signedPayments: createSignedPayments({ ...deps, ...NO_WALLETS }, { maxCached: CACHED }),
    sharedReads: createSharedReads(deps),
    incomingCommit: createIncomingCommit(deps.pool, limits, deps.workerId),
    ownBudgets: { incomingFees: { reserve: async () => ({ release: () => {} }) } as never, earned: () => {} },
    incomingCaps: {
      reserve: async () =>
        isRefused() ? { reached: 'incoming' as const, capMicro: 0n } : { release: () => {} },
    },
    limits,
  };
  return {
    process,
    check: checkIncoming(parts),
    submit: submitIncoming(parts),
    close: closeIncoming(parts),
    findLost: findLostIncoming(parts),
  };
};
export type IncomingSubmitter = ReturnType<typeof incomingSubmitter>;

type IncomingMarket = {
  tables: IncomingTables;
  /** The first credit of a vendor. */
  creditMicro: bigint;
  /** Whether the services close, so that they get no new payments. */
  isClosing: () => boolean;
  /** Where the services want their money now. */
  payoutAddress: () => string;
  submitters: () => readonly IncomingSubmitter[];
};

/** The operations of settlement for payments of other clients, in one of its processes. */
export const startIncomingSettlement = (
  harness: Harness,
  { process, deps }: SettlementReplica,
  { tables, creditMicro, isClosing, payoutAddress, submitters }: IncomingMarket,
) => {
  const submitter = callTo(harness, process, submitters);
  const credit = { firstMicro: creditMicro, perPaid: 4n, laterMicro: 5_000_000n };
  const applyProgress = onSettleProgressed(deps);
  const service = (service_id: string) => ({
    ...{ service_id, account_id: accountOf(service_id), name: 'simulated' },
    ...{ payout_address: payoutAddress(), status: isClosing() ? 'closing' : 'active' },
  });
  const parts = {
    ...deps,
    applyProgress,
    group: createIncomingGroupCommit(deps.pool, credit, { ofLink: 0, all: 0 }),
    credit,
    fee: FEE,
    accruedFee: { bps: 50n, minMicro: 2000n, solPriceMicro: 200_000_000n },
    x402Network: NETWORK,
    getFeePayers: async () => actors.network.feePayers,
    findService: async (id: string) => service(id) as never,
    checkIncoming: async (payment: object) => {
      const input = { ...payment, lost_since: tables.lostSince() } as never;
      const checked = await submitter((one) => one.check(input));
      if (checked.outcome === 'refused') tables.markRefused();
      return checked;
    },
    submitIncoming: (payment: object) =>
      submitter((one) => one.submit({ ...payment, lost_since: tables.lostSince() } as never)),
    closeIncoming: (payment: object) => submitter((one) => one.close(payment as never)),
    findLostIncoming: async (transaction: string) => {
      const since = tables.lostSince();
      return since !== null && (await submitter((one) => one.findLost({ transaction, since }))).paid;
    },
  };
  every(harness, process, RESUME_MS, resumeIncoming(parts));
  return {
    process,
    x402Settle: x402Settle(parts),
    acceptForeign: acceptForeign(parts),
    recordHandOut: recordHandOut(parts),
    reissue: reissueForeign(parts),
  };
};
export type IncomingReplica = ReturnType<typeof startIncomingSettlement>;

/** Two services with the payout address of the vendor, each of an account. */
export const services = [
  { account_id: actors.vendor.account_id, service_id: actors.vendor.service_id },
  {
    account_id: actors.vendor.account_id.replace(/9$/, '8'),
    service_id: actors.vendor.service_id.replace(/9$/, '8'),
  },
] as const;
export type Service = (typeof services)[number];

const accountOf = (serviceId: string): string | undefined =>
  services.find(({ service_id }) => service_id === serviceId)?.account_id;
