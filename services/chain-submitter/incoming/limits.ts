import type { Pool } from '../../../shared/db/pool.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Network } from '../ledger/model/network.ts';
import { refuse } from './refusal.ts';
import type { SharedReads } from './shared-reads.ts';
import type { SignedPayment } from './signed-payment.ts';
import { sourceBalance, spendableOf } from './source-balance.ts';
import { hasPaid, MAX_FAILED } from './store/intents.ts';
import { getVendorRoom, type VendorLimits } from './store/vendor-room.ts';

type Deps = {
  pool: Pool;
  network: Network;
  limits: VendorLimits;
  sharedReads: SharedReads;
};

/** How many payments to a vendor may fail today. The first of MPP need no further count. */
const allowanceOf = async (
  { pool, limits }: Deps,
  { legs }: SignedPayment,
  { vendor, failed }: { vendor: string; failed: bigint },
): Promise<bigint> =>
  legs.length === 1 || failed < limits.incoming_first_failures
    ? limits.incoming_failures
    : (await getVendorRoom(pool, vendor, limits)).allowance;

/**
 * What is known of a payment's source and vendor before it is signed. `alone`: too many payments to
 * the vendor failed today, so it receives only those of sources that have paid and did not fail,
 * one of each at a time. Whoever makes payments to it fail does not refuse the buyers that it has.
 */
export const readLimits = async (deps: Deps, payment: SignedPayment, vendor: string) => {
  const { pool, sharedReads } = deps;
  const { source } = payment;
  const [failures, confirmed, newest] = await Promise.all([
    sharedReads.failures({ source, vendor }),
    readForCaller(sharedReads.confirmedAccount(source)),
    // The simulation may be some seconds old.
    readForCaller(sharedReads.newestAccount(source)),
  ]);
  const { paused, of_source: failedOfSource, of_vendor: failedOfVendor } = failures;
  const balance = sourceBalance(confirmed, deps.network, payment);
  const newestMicro = spendableOf(newest, deps.network, payment);
  const alone = failedOfVendor >= (await allowanceOf(deps, payment, { vendor, failed: failedOfVendor }));
  const isKnown = !alone || (failedOfSource === 0n && (await hasPaid(pool, source)));
  return { paused, failedOfSource, failedOfVendor, alone, isKnown, balance, newestMicro };
};

/** @throws PaymentRefusal unless the payment may be signed */
export const checkLimits = (
  {
    paused,
    failedOfSource,
    failedOfVendor,
    isKnown,
    balance,
    newestMicro,
  }: Awaited<ReturnType<typeof readLimits>>,
  { totalMicro }: SignedPayment,
): void => {
  if (paused) refuse('signing_paused', 'the operator has paused payments; sign a new transaction later');
  if (failedOfSource >= MAX_FAILED)
    refuse(
      'source_blocked',
      `${MAX_FAILED} transactions of the paying token account failed on chain within a day; pay from another one`,
    );
  if (!isKnown)
    refuse(
      'budget_exhausted',
      `${failedOfVendor} payments to the vendor failed on chain today; until midnight UTC it receives those of buyers that have paid before and did not fail`,
    );
  if (balance.balanceMicro < totalMicro || newestMicro < totalMicro)
    refuse('insufficient_funds', 'the balance of the paying token account is too small');
};
