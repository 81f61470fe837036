import type { Vendor } from '../../deploy/local/seed/actors.ts';
import type { StackOptions } from '../../deploy/local/stack/settings.ts';
import { createBenchVendor, createPayers, type Payer } from './actors.ts';
import { type Load, startLoad } from './load.ts';
import { templatePayment } from './rows.ts';
import type { Run } from './run.ts';
import { type BenchStack, startBenchStack } from './stack.ts';

export type PayingStack = { bench: BenchStack; load: Load; vendor: Vendor; payers: Payer[] };

/**
 * A stack with a load, a vendor and payers. One payment is made, so that the vendor's token account
 * exists and no round includes its cost. Everything is stopped with the run.
 * @param label distinguishes several stacks of one run
 * @param payerCount the number of payers
 */
export const startPayingStack = async (
  run: Run,
  label: string,
  { payerCount, ...options }: Partial<StackOptions> & { payerCount: number },
): Promise<PayingStack> => {
  const bench = await startBenchStack(run, label, options);
  const load = await startLoad();
  run.defer(load.stop);
  const vendor = await createBenchVendor(bench);
  const payers = await createPayers(bench, payerCount);
  await templatePayment(bench, vendor, payers[0]!);
  return { bench, load, vendor, payers };
};
