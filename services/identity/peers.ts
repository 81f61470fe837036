import type { z } from 'zod';
import { call, callsFrom } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import type { OpenWork } from '../../shared/contract/account-activity.ts';
import { chainSubmitter, funding, quote, settlement, wallet } from '../../shared/contract/index.ts';
import type { Handler } from '../../shared/contract/service.ts';
import type { DelegateSpending as Spending } from '../../shared/contract/settlement.ts';

type Settlement = typeof settlement.internal;

/** Limits, usage and allowed services of a delegate, which settlement stores. */
export type DelegateSpending = z.infer<typeof Spending>;

/** Whether anything of a service can still be paid or redeemed. */
type ServiceActivity = {
  open: boolean;
  /** The end of its last window, epoch milliseconds. */
  endsAt: number | null;
};

/** The calls to other services. */
export type Peers = {
  /** The wallet that pays where the caller names none. Null when the account has none. */
  findDefaultWallet: (accountId: string) => Promise<string | null>;
  /** Null sets the wallet that was linked first. False: the account has no such wallet. */
  setDefaultWallet: (accountId: string, walletId: string | null) => Promise<boolean>;
  /** Whether the account has this wallet. */
  hasWallet: (accountId: string, walletId: string) => Promise<boolean>;
  /** Rejects with a ServiceError that says why the address may not receive payouts. */
  checkPayoutAddress: (address: string, allowOffCurve: boolean) => Promise<unknown>;
  /** Stores limits and allowed services. Null when the stored version is not the expected one. */
  upsertDelegate: Handler<Settlement['upsertDelegate']>;
  listDelegateSpending: (accountId: string, delegateIds: string[]) => Promise<DelegateSpending[]>;
  /** The approval of an account, which settlement stores. Null: the account does not have it. */
  findApproval: (
    accountId: string,
    approvalId: string,
  ) => Promise<z.infer<Settlement['findApproval']['output']>>;
  /** Records that a passkey of the owner has signed. */
  recordApproval: Handler<Settlement['recordApproval']>;
  /** What of an account is open in the other services. */
  listOpenWork: (accountId: string) => Promise<readonly OpenWork[]>;
  getActivity: (serviceId: string) => Promise<ServiceActivity>;
};

const openWork = async (bus: Bus, account_id: string): Promise<OpenWork[]> =>
  (
    await Promise.all([
      call(bus, quote, 'getAccountActivity', { account_id }),
      call(bus, settlement, 'getAccountActivity', { account_id }),
      call(bus, funding, 'getAccountActivity', { account_id }),
      call(bus, wallet, 'getAccountActivity', { account_id }),
    ])
  ).flat();

const activityOf = async (bus: Bus, service_id: string): Promise<ServiceActivity> => {
  const both = await Promise.all([
    call(bus, quote, 'getQuoteActivity', { service_id }),
    call(bus, settlement, 'getSettlementActivity', { service_id }),
  ]);
  const ends = both.flatMap(({ ends_at }) => (ends_at === null ? [] : [Date.parse(ends_at)]));
  return { open: both.some(({ open }) => open), endsAt: ends.length === 0 ? null : Math.max(...ends) };
};

export const createPeers = (bus: Bus): Peers => {
  const to = callsFrom(bus);
  const findWallet = to(wallet, 'find');
  return {
    findDefaultWallet: async (account_id) => (await findWallet({ account_id }))?.wallet_id ?? null,
    setDefaultWallet: async (account_id, wallet_id) =>
      (await call(bus, wallet, 'setDefault', { account_id, wallet_id })).found,
    hasWallet: async (account_id, wallet_id) => (await findWallet({ account_id, wallet_id })) !== null,
    checkPayoutAddress: (payout_address, allow_off_curve) =>
      call(bus, chainSubmitter, 'checkPayoutAddress', { payout_address, allow_off_curve }),
    upsertDelegate: to(settlement, 'upsertDelegate'),
    listDelegateSpending: (account_id, delegate_ids) =>
      call(bus, settlement, 'listDelegateSpending', { account_id, delegate_ids }),
    findApproval: (account_id, approval_id) =>
      call(bus, settlement, 'findApproval', { account_id, approval_id }),
    recordApproval: to(settlement, 'recordApproval'),
    listOpenWork: (accountId) => openWork(bus, accountId),
    getActivity: (serviceId) => activityOf(bus, serviceId),
  };
};
