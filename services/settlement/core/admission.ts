import { invalid } from '../../../shared/contract/errors.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import type { Payee } from '../../../shared/lib/money/payees.ts';
import { getPayer, type PayerFinder } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';
import type { Peers } from '../peers.ts';
import {
  chainUnavailable,
  feeBudgetUsedUp,
  payerFrozen,
  paymentsPaused,
  vendorFrozen,
} from './decision-errors.ts';
import { type PayingCaller, walletIdOf } from './paying-caller.ts';

export type AdmissionDeps = PayerFinder &
  Pick<Peers, 'isChainReadable' | 'budgetRefillsInSeconds' | 'isFrozen'> & {
    /** Whether the operators have paused new payments; at most 1 s old. */
    isPaused: () => Promise<boolean>;
  };

/** What a payment without our fee payer needs of them. */
export type OutgoingAdmissionDeps = Omit<AdmissionDeps, 'budgetRefillsInSeconds' | 'isFrozen'>;

/**
 * The wallet that makes a new outgoing payment. The vendor's fee payer pays its fee, so our budget
 * of fees does not matter.
 * @throws ServiceError when new payments of this caller are refused at the moment
 */
export const admitOutgoing = async (
  deps: OutgoingAdmissionDeps,
  payees: readonly Payee[],
  caller: PayingCaller,
): Promise<Payer> => {
  if (caller.frozen) throw payerFrozen();
  const [payer, chainReadable, isPaused] = await Promise.all([
    getPayer(deps, caller.account_id, walletIdOf(caller), null),
    deps.isChainReadable(),
    deps.isPaused(),
  ]);
  if (payees.some(({ address }) => address === payer.owner))
    throw invalid('requirement', 'must not pay the wallet that pays');
  if (isPaused) throw paymentsPaused();
  if (!chainReadable) throw chainUnavailable();
  return payer;
};

/**
 * The wallet that pays a new attempt. All conditions are queried at the same time.
 * @throws ServiceError when new payments of this caller or quote are refused at the moment
 */
export const admit = async (
  deps: AdmissionDeps,
  claims: QuoteClaims,
  caller: PayingCaller,
): Promise<Payer> => {
  if (caller.frozen) throw payerFrozen();
  const [payer, chainReadable, budgetRefillsInSeconds, isPaused, isVendorFrozen] = await Promise.all([
    getPayer(deps, caller.account_id, walletIdOf(caller), claims.payout_address),
    deps.isChainReadable(),
    deps.budgetRefillsInSeconds(),
    deps.isPaused(),
    deps.isFrozen(claims.vendor_account_id),
  ]);
  if (isPaused) throw paymentsPaused();
  if (isVendorFrozen) throw vendorFrozen();
  // Accepted payments wait for the chain. A new one is refused (docs/spec/decisions.md, Limits).
  if (!chainReadable) throw chainUnavailable();
  if (budgetRefillsInSeconds !== null) throw feeBudgetUsedUp(budgetRefillsInSeconds);
  return payer;
};
